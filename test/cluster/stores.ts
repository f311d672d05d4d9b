// Postgres and Redis with a replica, in the chart's namespace, with the product's roles made.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Role, roles } from '../support/database-roles.ts';
import { eventually } from './eventually.ts';
import type { Kube } from './kube.ts';
import { configMap, database, postgres, redis, secret, service } from './store-manifests.ts';

export interface Stores {
  readonly rolePasswords: Readonly<Record<Role, string>>;
  readonly redisPassword: string;
  /** One statement as superuser; gives unaligned rows. */
  readonly query: (sql: string) => Promise<string>;
}

/** Resolves when both answer. */
export async function startStores(kube: Kube): Promise<Stores> {
  const password = () => randomBytes(18).toString('base64url');
  const rolePasswords = Object.fromEntries(roles.map((role) => [role, password()])) as Record<Role, string>;
  const redisPassword = password();
  await kube.apply(
    configMap('postgres-scripts', {
      '10-roles.sql': fileOf('../../deploy/postgres/roles.sql'),
      '20-role-passwords.sh': fileOf('../../deploy/compose/role-passwords.sh'),
    }),
    secret('postgres-start', {
      postgres_password: password(),
      ...Object.fromEntries(roles.map((role) => [`${role}_password`, rolePasswords[role]])),
    }),
    secret('redis-start', {
      'users.acl': `user default on >${redisPassword} ~* &* +@all\n`,
      password: redisPassword,
    }),
    postgres,
    service('postgres', 5432),
    ...['redis', 'redis-replica'].map((name) => redis(name)),
    service('redis', 6379),
    service('redis-replica', 6379),
  );
  for (const name of ['postgres', 'redis', 'redis-replica'])
    await kube.kubectl('rollout', 'status', `deployment/${name}`, '--timeout=120s');
  await eventually(
    () => replication(kube, redisPassword),
    (said) => said.includes('state=online'),
  );
  const query = (sql: string) =>
    kube.kubectl(
      'exec',
      'deployment/postgres',
      '--',
      ...[
        'psql',
        '--username=postgres',
        `--dbname=${database}`,
        '--no-psqlrc',
        '--no-align',
        '--tuples-only',
      ],
      ...['--host=/var/run/postgresql', `--command=${sql}`],
    );
  return { rolePasswords, redisPassword, query };
}

function replication(kube: Kube, password: string): Promise<string> {
  const words = ['redis-cli', '--no-auth-warning', '--pass', password, 'info', 'replication'];
  return kube.kubectl('exec', 'deployment/redis', '--', ...words);
}

function fileOf(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}
