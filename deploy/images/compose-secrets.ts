// Makes the secrets that deploy/compose.yaml mounts: `node deploy/images/compose-secrets.ts [DIRECTORY]`, a file each.
// What is there stays, so that a second call changes nothing. The directory is closed to others; the files are not,
// because a container's account must read them.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { demoPartner } from '@course-exchange/local-stack/demo-accounts';
import { identityUser } from '@course-exchange/local-stack/redis';

const directory = resolve(process.argv[2] ?? join(import.meta.dirname, '../../.run/compose'));
mkdirSync(directory, { recursive: true, mode: 0o700 });

function keep(name: string, value: string): string {
  const file = join(directory, name);
  if (!existsSync(file)) writeFileSync(file, value, { mode: 0o444 });
  return readFileSync(file, 'utf8');
}

const newSecret = () => randomBytes(32).toString('base64url');

const databaseUrls = {
  identity_migrator: 'identity_migrator_url',
  catalog_migrator: 'catalog_migrator_url',
  identity_rw: 'identity_url',
  identity_operator: 'identity_operator_url',
  catalog_ro: 'catalog_url',
  catalog_feed: 'catalog_feed_url',
};
const statements = Object.entries(databaseUrls).map(([role, file]) => {
  const url = keep(file, `postgres://${role}:${newSecret()}@postgres:5432/course_exchange`);
  return `alter role ${role} password '${new URL(url).password}';\n`;
});
keep('role_passwords.sql', statements.join(''));
for (const name of [
  'postgres_superuser_password',
  'key_encryption_key',
  'user_hash_key',
  'partner_token_key',
])
  keep(name, newSecret());
const redisPassword = keep('redis_password', newSecret());
const identityPassword = keep('redis_identity_password', newSecret());
keep('redis_acl', `user default on >${redisPassword} ~* &* +@all\nuser ${identityUser(identityPassword)}\n`);
keep('redis_url', `redis://identity:${identityPassword}@redis:6379`);
keep('demo_client_secret', demoPartner('http://127.0.0.1').clientSecret);
console.log(directory);
