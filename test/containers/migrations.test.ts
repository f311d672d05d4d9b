// The migrations image: from an empty database to the newest schema, and nothing at all the second time.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Stores, startStores } from './stores.ts';
import { catalogMigrations, identityMigrations, migrate, seed } from './system.ts';

let stores: Stores;

beforeAll(async () => {
  stores = await startStores();
});

afterAll(() => stores?.close());

const applied = () =>
  stores.query(`select 'identity' as schema, count(*)::int as migrations, max(applied_at) as last from identity.schema_migrations
    union all select 'catalog', count(*)::int, max(applied_at) from catalog.schema_migrations order by 1`);
const keys = () => stores.query('select kid from identity.signing_keys order by kid');

test('migrates both schemas from empty and makes the first signing keys', async () => {
  expect(await migrate(stores, identityMigrations)).toMatchObject({ code: 0 });
  expect(await migrate(stores, catalogMigrations)).toMatchObject({ code: 0 });
  for (const row of await applied()) expect(row.migrations).toBeGreaterThan(0);
  expect(await keys()).toHaveLength(2);
});

test('does nothing the second time', async () => {
  const before = [await applied(), await keys()];
  const ending = await migrate(stores, identityMigrations);
  expect(ending.code).toBe(0);
  expect(ending.output).toMatch(/"migrations":0,"keys":0/);
  expect(await migrate(stores, catalogMigrations)).toMatchObject({ code: 0 });
  expect([await applied(), await keys()]).toEqual(before);
});

test('two at once wait for one another', async () => {
  const endings = await Promise.all([1, 2, 3].map(() => migrate(stores, identityMigrations)));
  expect(endings.map(({ code }) => code)).toEqual([0, 0, 0]);
});

test('says so and ends with 1 where the key does not open the signing keys', async () => {
  const other = { ...stores, keyEncryptionKey: Buffer.alloc(32, 7).toString('base64url') };
  const { code, output } = await migrate(other, identityMigrations);
  expect(code).toBe(1);
  expect(output).toContain('KEY_ENCRYPTION_KEY does not open the signing keys');
});

test('fills a test environment and refuses production', async () => {
  expect(await seed(stores, 'production', 'http://127.0.0.1:9000')).toMatchObject({ code: 1 });
  expect(await stores.query('select 1 from identity.clients')).toHaveLength(0);
  expect(await seed(stores, 'test', 'http://127.0.0.1:9000')).toMatchObject({ code: 0 });
  expect((await stores.query('select 1 from identity.clients')).length).toBeGreaterThan(0);
});
