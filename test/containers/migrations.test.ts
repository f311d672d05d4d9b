// The migrations image: from an empty database and from an earlier version to the newest schema, nothing at all the
// second time, and --check.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { identityUser } from '@course-exchange/local-stack/redis';
import { imageOf } from '@course-exchange/testcontainers/images';
import { type Ending, runToEnd } from '@course-exchange/testcontainers/product-container';
import { catalogMigrations, identityMigrations, migrate } from '@course-exchange/testcontainers/system';
import { beforeAll, expect, test } from 'vitest';
import { startRedis } from './redis.ts';
import { type Stores, startStores } from './system.ts';

let stores: Stores;

beforeAll(async () => {
  const words = ['--user', ...identityUser('test').split(' ')];
  stores = await startStores({
    redis: (network) => startRedis(network, { words }),
    redisUrl: 'redis://identity:test@redis:6379',
  });
});

const folder = (service: string) => new URL(`../../services/${service}/migrations/`, import.meta.url);
const files = (service: string) => readdirSync(folder(service)).sort();
const read = (service: string, file: string) => readFileSync(new URL(file, folder(service)), 'utf8');

function check(stores: Stores, changed: Readonly<Record<string, string>> = {}): Promise<Ending> {
  return runToEnd(imageOf('migrations'), {
    command: [identityMigrations, '--check'],
    network: stores.network,
    environment: {
      KEY_ENCRYPTION_KEY: stores.keyEncryptionKey,
      MIGRATOR_POSTGRES_URL: stores.postgresUrl('identity_migrator'),
      POSTGRES_URL: stores.postgresUrl('identity_rw'),
      OPERATOR_POSTGRES_URL: stores.postgresUrl('identity_operator'),
      REDIS_URL: stores.redisUrl,
      ISSUER: 'https://exchange.example',
      ENVIRONMENT: 'test',
      PUBLIC_HOST: 'exchange.example',
      ...changed,
    },
  });
}

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

test('with --check it looks at everything and changes nothing', async () => {
  const before = [await applied(), await keys()];
  const whole = await check(stores);
  expect(whole.code, whole.output).toBe(0);
  for (const group of ['issuer', 'postgres', 'roles', 'schema', 'signing keys', 'redis'])
    expect(whole.output).toMatch(new RegExp(`"check":"${group}".*"message":"check passed"`));
  const production = await check(stores, { ENVIRONMENT: 'production' });
  expect(production.code).toBe(1);
  expect(production.output.match(/without verified TLS, which production requires/g)).toHaveLength(3);
  const wrong = await check(stores, {
    POSTGRES_URL: stores.postgresUrl('identity_rw').replace(/:[^:@/]+@/, ':wrong-3d7e@'),
    REDIS_URL: 'redis://nowhere.invalid',
    PUBLIC_HOST: 'other.example',
  });
  expect(wrong.code).toBe(1);
  expect(wrong.output.match(/"check failed"/g)).toHaveLength(3);
  expect(wrong.output).toContain('refuses the password of identity_rw: set that of POSTGRES_URL');
  expect(wrong.output).not.toContain('3d7e');
  expect([await applied(), await keys()]).toEqual(before);
});

test('goes on from an earlier version, and leaves a newer one as it is', async () => {
  const newest = files('identity').length;
  const asOwner = (sql: string) =>
    stores.query(`set role course_exchange_owner; set search_path = catalog; ${sql}`);
  await stores.query('drop schema catalog cascade');
  await asOwner(`create schema catalog; create table catalog.schema_migrations (
    version integer primary key, applied_at timestamptz not null default now(), sha256 text)`);
  // With one migration there is nothing earlier than the newest version.
  const present = files('design-catalog');
  const earlier = present.slice(0, Math.max(1, present.length - 1));
  for (const [at, file] of earlier.entries()) {
    const sql = read('design-catalog', file);
    const hash = createHash('sha256').update(sql).digest('hex');
    await asOwner(`${sql}; insert into schema_migrations (version, sha256) values (${at + 1}, '${hash}')`);
  }
  await asOwner(`insert into designs (owner, id, event_id, event_name) values ('o', 'd', 'e', 'Cup')`);
  expect(await migrate(stores, catalogMigrations)).toMatchObject({
    code: 0,
    output: expect.stringContaining(`"migrations":${present.length - earlier.length}`),
  });
  expect(await stores.query('select name, design_count from catalog.event_summaries')).toEqual([
    { name: 'Cup', design_count: 1 },
  ]);
  await stores.query(`insert into identity.schema_migrations (version) values (${newest + 1})`);
  const ending = await migrate(stores, identityMigrations);
  await stores.query(`delete from identity.schema_migrations where version > ${newest}`);
  expect(ending.code).toBe(0);
  expect(ending.output).toContain(`has version ${newest + 1} and this image knows ${newest}`);
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
  const seed = (ENVIRONMENT: string) =>
    runToEnd(imageOf('migrations'), {
      command: ['/app/seed.js'],
      network: stores.network,
      environment: {
        ENVIRONMENT,
        MIGRATOR_POSTGRES_URL: stores.postgresUrl('identity_migrator'),
        DEMO_PARTNER_URL: 'http://127.0.0.1:9000',
      },
    });
  expect(await seed('production')).toMatchObject({ code: 1 });
  expect(await stores.query('select 1 from identity.clients')).toHaveLength(0);
  expect(await seed('test')).toMatchObject({ code: 0 });
  expect((await stores.query('select 1 from identity.clients')).length).toBeGreaterThan(0);
});
