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

type Schema = 'identity' | 'catalog';

const hash = () => `'\\x${randomBytes(32).toString('hex')}'`;
const nextSequence = (schema: Schema) => `(select coalesce(max(sequence), 0) + 1 from ${schema}.audit_log)`;

/**
 * What the first version of each schema was written with: the statements of the code of that time, by who runs them. `mark` tells the rows of
 * one run from those of another.
 */
const writings = (mark: string) => ({
  identity: {
    superuser: [
      `insert into identity.users (sub, email, email_verified, name, password_hash, disabled_at)
         values ('user-${mark}', 'ann-${mark}@example.com', true, 'Ann', '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaA', null),
           ('gone-${mark}', 'bo-${mark}@example.com', false, 'Bo', '$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$aGFzaA', now())`,
      `insert into identity.clients (client_id, name, active, scopes, redirect_uris)
         values ('client-${mark}', 'Acme', true, array['openid', 'email'], array['https://acme.example/callback'])`,
      `insert into identity.client_secrets (client_id, secret_hash, expires_at)
         values ('client-${mark}', ${hash()}, now() + interval '1 day'), ('client-${mark}', ${hash()}, null)`,
      `insert into identity.consents (consent_id, sub, client_id, scopes, withdrawn_at)
         values ('old-${mark}', 'user-${mark}', 'client-${mark}', array['openid'], now())`,
      `insert into identity.signing_keys (kid, algorithm, public_jwk, private_key, state, superseded_at)
         values ('superseded-${mark}', 'RS256', '{"kty":"RSA"}', '\\x00', 'superseded', now())`,
    ],
    identity_rw: [
      `insert into consents (consent_id, sub, client_id, scopes)
         values ('now-${mark}', 'user-${mark}', 'client-${mark}', array['openid'])`,
      `update consents set scopes = array['openid', 'email'], extended_at = now() where consent_id = 'now-${mark}'`,
      'select kid, algorithm, public_jwk, private_key, state, superseded_at from signing_keys',
      'select sub, email, email_verified, name, password_hash, disabled_at, signed_out_at from users',
      'select client_id, name, active, scopes, redirect_uris from clients join client_secrets using (client_id)',
    ],
    identity_operator: [
      `update clients set registration = '{"userJourney":"once"}', approval_state = 'test', version = version + 1,
           changed_at = now()
         where client_id = 'client-${mark}'`,
      `insert into client_approvals (client_id, state, operator, note) values ('client-${mark}', 'test', 'ann', 'as agreed')`,
      `update client_secrets set retired_at = now() where client_id = 'client-${mark}' and expires_at is not null`,
      `update users set imported_hash = ${hash()}, signed_out_at = now() where sub = 'user-${mark}'`,
      `update signing_keys set state = 'retired', retired_at = now(), private_key = '' where kid = 'superseded-${mark}'`,
      `insert into audit_log (sequence, at, actor, action, object, client_id, request_id, fields, hash)
         select ${nextSequence('identity')}, now(), 'ann', 'client.approve', 'client ${mark}', 'client-${mark}', 'r', '{}', ${hash()}::bytea`,
    ],
  },
  catalog: {
    superuser: [
      `insert into catalog.designs (owner, id, event_id, title, event_name, short_descr, event_date, updated_at)
         select 'owner-${mark}', 'd' || n, 'e' || n % 3, 'Round ' || n, 'Cup ' || n % 2, '1.20 m',
           timestamptz '2026-01-01' + n * interval '1 day', timestamptz '2026-02-01' + n % 7 * interval '1 hour'
         from generate_series(1, 40) n`,
      `update catalog.designs set deleted_at = now() where owner = 'owner-${mark}' and id in ('d3', 'd6', 'd9')`,
      `update catalog.designs set event_id = 'moved', updated_at = null where owner = 'owner-${mark}' and id = 'd4'`,
      `delete from catalog.designs where owner = 'owner-${mark}' and id = 'd7'`,
    ],
    catalog_feed: [
      `insert into designs (owner, id, event_id, title, event_name, updated_at, revision)
         values ('owner-${mark}', 'd1', 'e1', 'Round 1b', 'Cup 1b', '2026-03-01', 5),
           ('owner-${mark}', 'fed', 'e2', 'Fed', 'Cup 2', '2026-03-02', 18446744073709551615)
         on conflict (owner, id) do update set title = excluded.title, event_name = excluded.event_name,
           updated_at = excluded.updated_at, revision = excluded.revision`,
      `insert into resume_points (source, position) values ('source-${mark}', 7)`,
      `insert into audit_log (sequence, at, actor, action, object, request_id, fields, hash)
         select ${nextSequence('catalog')}, now(), 'feed', 'designs.apply', 'source ${mark}', 'r', '{}', ${hash()}::bytea`,
    ],
  },
});

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
