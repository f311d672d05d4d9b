// From each earlier version of each schema, with rows in it, to the newest: every row stays as it is, and what the
// code of that version says to Postgres is still understood (decision 0019).
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { withClient } from '@course-exchange/local-stack/postgres';
import type { Role } from '@course-exchange/local-stack/run-directory';
import { migrate } from '@course-exchange/runtime/postgres/migrate';
import { newestMigration } from '@course-exchange/runtime/postgres/schema-version';
import { Secret } from '@course-exchange/runtime/process/secret';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { generateSigningKey } from '../../services/identity/src/keys/private-key.ts';
import { differences } from './feed-changes.ts';
import { accountsFor, type JobDatabase, openJobDatabase, runJob } from './postgres.ts';
import { type Schema, writings } from './schema-history.ts';

const migrations = (service: string) => join(import.meta.dirname, '../../services', service, 'migrations');
const identity = migrations('identity');
const catalog = migrations('design-catalog');
const encryptionKey = randomBytes(32);
let database: JobDatabase;

beforeEach(async () => {
  database = await openJobDatabase();
});
afterEach(() => database.close());

function versionsIn(directory: string): readonly number[] {
  return Array.from({ length: newestMigration(directory) }, (_, index) => index + 1);
}

/** As the code of the first version writes, each statement under its own role. */
async function write(schema: Schema, mark: string): Promise<void> {
  for (const [role, statements] of Object.entries(writings(mark)[schema])) {
    const url = role === 'superuser' ? database.superuser : database.as(role as Role);
    await withClient(url, async (client) => {
      await client.query(`set search_path to ${schema}`);
      for (const statement of statements) await client.query(statement);
    });
  }
}

type Content = Readonly<Record<string, readonly Record<string, unknown>[]>>;

/** Every table of the schema but the list of migrations; `like`: the columns that were there then. */
async function contentOf(schema: Schema, like?: Content): Promise<Content> {
  const tables = await database.sql(
    `select relname as name from pg_class where relnamespace = $1::regnamespace and relkind = 'r'
      and relname <> 'schema_migrations' order by 1`,
    [schema],
  );
  const content: Record<string, Record<string, unknown>[]> = {};
  for (const name of like ? Object.keys(like) : tables.map((table) => String(table.name))) {
    const columns = Object.keys(like?.[name]?.[0] ?? {}).map((column) => `"${column}"`);
    const list = columns.length > 0 ? columns.join(', ') : '*';
    content[name] = await database.sql(
      `select ${list} from ${schema}.${name} t order by t::text collate "C"`,
    );
    content[name]?.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  return content;
}

async function putSigningKeys(): Promise<void> {
  for (const algorithm of ['RS256', 'ES256'] as const) {
    const key = await generateSigningKey(
      { keyEncryptionKey: new Secret(encryptionKey), randomBytes },
      algorithm,
    );
    await database.sql(
      `insert into identity.signing_keys (kid, algorithm, public_jwk, private_key, state, activated_at)
        values ($1, $2, $3, $4, 'active', now())`,
      [key.kid, algorithm, JSON.stringify(key.publicJwk), key.encryptedPrivateKey],
    );
  }
}

const jobSettings = () => ({
  KEY_ENCRYPTION_KEY: encryptionKey.toString('base64url'),
  ...accountsFor(database).identity,
});

/** The job refuses to skip one: 0004 follows the version whose newest migration is 0003. */
const throughEveryVersion = () => migrate(database.as('identity_migrator'), 'identity', identity, 3);

describe('identity', () => {
  test.each(versionsIn(identity))(
    'from version %i: users, clients, secrets, consents and keys stay',
    async (version) => {
      await migrate(database.as('identity_migrator'), 'identity', identity, version);
      await write('identity', 'before');
      await putSigningKeys();
      const before = await contentOf('identity');
      expect(before.users).toHaveLength(2);
      await throughEveryVersion();
      const ending = await runJob('identity', jobSettings());
      expect(ending.code, ending.output).toBe(0);
      // No key was made: those that were there are opened and kept.
      expect(ending.output).toContain('"keys":0');
      expect(await contentOf('identity', before)).toEqual(before);
      await write('identity', 'after');
    },
  );

  test('a client that is written without an approval state counts as approved, and its secrets have names', async () => {
    await migrate(database.as('identity_migrator'), 'identity', identity, 1);
    for (const statement of writings('before').identity.superuser) await database.sql(statement);
    await throughEveryVersion();
    expect((await runJob('identity', jobSettings())).code).toBe(0);
    expect(await database.sql('select approval_state, version, registration from identity.clients')).toEqual([
      { approval_state: 'approved', version: 1, registration: {} },
    ]);
    const secrets = await database.sql('select secret_id from identity.client_secrets');
    expect(new Set(secrets.map(({ secret_id }) => secret_id)).size).toBe(2);
  });
});

test.each([
  ['another text of it', `update identity.schema_migrations set sha256 = 'other' where version = 1`],
  ['a migrator that kept no hash', 'alter table identity.schema_migrations drop column sha256'],
])('a database whose first migration is of %s is refused, and stays as it is', async (_of, sql) => {
  await migrate(database.as('identity_migrator'), 'identity', identity, 1);
  await database.sql(sql);
  const before = await contentOf('identity');
  const ending = await runJob('identity', jobSettings());
  expect(ending.code).toBe(1);
  expect(ending.output).toMatch(
    /"migration":"identity 1".*this database was made by an earlier draft of this/,
  );
  expect(await contentOf('identity')).toEqual(before);
});

describe('catalog', () => {
  test.each(versionsIn(catalog))(
    'from version %i: designs stay, summaries are exact and stay so',
    async (version) => {
      await migrate(database.as('catalog_migrator'), 'catalog', catalog, version);
      await write('catalog', 'before');
      const before = await contentOf('catalog');
      expect(before.event_summaries?.length).toBeGreaterThan(3);
      const ending = await runJob('design-catalog', accountsFor(database)['design-catalog']);
      expect(ending.code, ending.output).toBe(0);
      expect(await contentOf('catalog', before)).toEqual(before);
      const writer = new pg.Pool({ connectionString: database.superuser, options: '-c search_path=catalog' });
      try {
        expect(await differences(writer)).toEqual([]);
        await write('catalog', 'after');
        await writer.query(`update designs set event_name = 'Renamed', updated_at = now() where id = 'd5'`);
        expect(await differences(writer)).toEqual([]);
      } finally {
        await writer.end();
      }
    },
  );
});
