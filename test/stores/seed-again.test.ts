// The seed of a test environment run again, as every upgrade does: it changes nothing, and undoes no operator's work.
import { join } from 'node:path';
import { demoPartners } from '@course-exchange/local-stack/demo-accounts';
import { seedContent, seedDemoData } from '@course-exchange/local-stack/seed';
import { migrate } from '@course-exchange/runtime/postgres/migrate';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { useJobDatabase } from './postgres.ts';

const services = join(import.meta.dirname, '../../services/');
const database = await useJobDatabase();
await migrate(database.as('identity_migrator'), 'identity', `${services}identity/migrations`);
await migrate(database.as('catalog_migrator'), 'catalog', `${services}design-catalog/migrations`);
const client = new pg.Client(database.as('identity_migrator'));
await client.connect();
afterAll(() => client.end());

const address = 'http://127.0.0.1:9000';
const partner = { clientId: 'acme', name: 'Acme', scopes: ['openid'], active: true };
const redirectUris: [string] = ['http://127.0.0.1:3999/callback'];
const user = { sub: 'ann-1', email: 'ann@example.com', name: 'Ann', password: 'a password of ann' };
const flags = { about: '', emailVerified: true, disabled: false };
async function seed(clientSecret = 'a'.repeat(43), demoPartner = address): Promise<void> {
  await seedDemoData(client, demoPartners(demoPartner));
  const partners = [{ ...partner, redirectUris, clientSecret }];
  await seedContent(client, { partners, users: [{ ...user, ...flags }] }, 'keep');
}
await seed();

const all = () =>
  Promise.all(
    ['users', 'clients', 'client_secrets'].map((table) =>
      database.sql(`select to_jsonb(t) as row from identity.${table} t order by 1`),
    ),
  );

test.each([
  ['nothing', 'select'],
  [
    'name, state, password and secrets',
    `update identity.clients set active = false, name = 'Stopped' where client_id = 'acme';
    update identity.users set disabled_at = now(), email = 'moved@example.com', password_hash = 'other' where sub = 'ann-1';
    update identity.client_secrets set retired_at = now() where client_id = 'acme'`,
  ],
])('a second time changes nothing, after an operator has changed %s', async (_, change) => {
  await database.sql(change);
  const before = await all();
  await seed();
  expect(await all()).toEqual(before);
});

test('a secret that is new in the file is added beside the others', async () => {
  await seed('b'.repeat(43));
  const found = await database.sql(
    `select retired_at is null as valid from identity.client_secrets where client_id = 'acme' order by 1`,
  );
  expect(found).toEqual([{ valid: false }, { valid: true }]);
});

test("the demo partner's new address is added to its redirect URIs", async () => {
  await seed('b'.repeat(43), 'https://demo.example');
  const [row] = await database.sql(
    `select redirect_uris from identity.clients where 'https://demo.example/callback' = any(redirect_uris)`,
  );
  expect(row?.redirect_uris).toContain(`${address}/callback`);
});
