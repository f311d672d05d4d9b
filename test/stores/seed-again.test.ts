// The seed of a test environment run again, as every upgrade does: it changes nothing, and undoes no operator's work.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoPartners } from '@course-exchange/local-stack/demo-accounts';
import { seedContent, seedDemoData } from '@course-exchange/local-stack/seed';
import { readSeedFile } from '@course-exchange/local-stack/seed-file';
import { migrate } from '@course-exchange/runtime/postgres/migrate';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type JobDatabase, openJobDatabase } from './postgres.ts';

const services = new URL('../../services/', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'seed-again-'));
let database: JobDatabase;
let client: pg.Client;

const secrets = ['a'.repeat(43), 'b'.repeat(43)];
function contentWith(clientSecret: string | undefined) {
  const path = join(folder, 'seed.json');
  const partner = {
    clientId: 'acme',
    scopes: ['openid'],
    name: 'Acme',
    clientSecret,
    redirectUris: ['http://127.0.0.1:3999/callback'],
  };
  const user = { email: 'ann@example.com', name: 'Ann', password: 'a password of ann' };
  writeFileSync(path, JSON.stringify({ partners: [partner], users: [{ sub: 'ann-1', ...user }] }));
  return readSeedFile(path);
}
const seed = async (address: string, clientSecret = secrets[0]) => {
  await seedDemoData(client, demoPartners(address));
  await seedContent(client, contentWith(clientSecret), 'keep');
};
const all = async () =>
  Promise.all(
    ['users', 'clients', 'client_secrets'].map((table) =>
      database.sql(`select to_jsonb(t) as row from identity.${table} t order by 1`),
    ),
  );

beforeAll(async () => {
  database = await openJobDatabase();
  await migrate(database.as('identity_migrator'), 'identity', `${services}identity/migrations`);
  await migrate(database.as('catalog_migrator'), 'catalog', `${services}design-catalog/migrations`);
  client = new pg.Client(database.as('identity_migrator'));
  await client.connect();
  await seed('http://127.0.0.1:9000');
});
afterAll(async () => {
  await client?.end();
  await database?.close();
  rmSync(folder, { recursive: true });
});

test('a second time changes nothing', async () => {
  const before = await all();
  await seed('http://127.0.0.1:9000');
  expect(await all()).toEqual(before);
});

test('what an operator changed stays: names, states, passwords, retired secrets', async () => {
  await database.sql(`update identity.clients set active = false, name = 'Stopped' where client_id = 'acme';
    update identity.users set disabled_at = now(), email = 'moved@example.com', password_hash = 'other' where sub = 'ann-1';
    update identity.client_secrets set retired_at = now() where client_id = 'acme'`);
  const before = await all();
  await seed('http://127.0.0.1:9000');
  expect(await all()).toEqual(before);
});

test('a secret that is new in the file is added beside the others', async () => {
  await seed('http://127.0.0.1:9000', secrets[1]);
  const found = await database.sql(
    `select retired_at is null as valid from identity.client_secrets where client_id = 'acme' order by 1`,
  );
  expect(found).toEqual([{ valid: false }, { valid: true }]);
});

test("the demo partner's new address is added to its redirect URIs", async () => {
  await seed('https://demo.example');
  const [row] = await database.sql(
    `select redirect_uris from identity.clients where 'https://demo.example/callback' = any(redirect_uris)`,
  );
  expect(row?.redirect_uris).toContain('http://127.0.0.1:9000/callback');
});
