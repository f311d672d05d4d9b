// What the migration jobs find before they change anything, and how they end. Checks run as functions, with settings in the
// environment; whole programs where their exit code counts. Redis has its own file.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MigrationJob, migrate, runMigrationJob } from '@course-exchange/runtime/postgres/migrate';
import { createLogger } from '@course-exchange/runtime/process/logger';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as catalog from '../../services/design-catalog/src/preflight.ts';
import * as identity from '../../services/identity/src/preflight.ts';
import { createAuthority } from '../rpc/certificate-authority.ts';
import { openLink } from '../support/tcp-link.ts';
import { accountsFor, endingOf, openJobDatabase, runJob, useJobDatabase } from './postgres.ts';

type Changed = Readonly<Record<string, string>>;
const migrations = join(import.meta.dirname, '../../services/design-catalog/migrations');
const key = randomBytes(32).toString('base64url');
const database = await useJobDatabase();
const { port } = new URL(database.superuser);
const accounts = accountsFor(database);
const installed = {
  ...accounts,
  identity: {
    ...accounts.identity,
    KEY_ENCRYPTION_KEY: key,
    REDIS_URL: process.env.TEST_REDIS_URL ?? '',
    REDIS_USERNAME: 'identity',
    ISSUER: 'https://exchange.example',
    ENVIRONMENT: 'production',
  },
};
const collecting = (add: (line: string) => void) => createLogger('test', 'info', add);

/** What the job would find if its newest migration were the second. */
async function find(job: keyof typeof installed, changed: Changed = {}) {
  for (const [name, value] of Object.entries({ ...installed[job], ...changed })) vi.stubEnv(name, value);
  let output = '';
  const logger = collecting((line) => (output += line));
  const { preflight, readMigrationConfig } = (job === 'identity' ? identity : catalog) as typeof identity;
  try {
    return endingOf((await preflight(readMigrationConfig(), 2, logger)) ? 0 : 1, output);
  } finally {
    vi.unstubAllEnvs();
  }
}
/** The catalog's job without its checks, in this process, which waits for locks for 300 ms. */
const job = (connectionString: string, given: Partial<MigrationJob<unknown>> = {}) =>
  runMigrationJob<unknown>({
    ...{ words: [], schema: 'catalog', directory: migrations, logger: collecting(() => {}) },
    ...{ readConfig: () => ({}), check: async () => true, ...given },
    migrator: () => ({ connectionString, lock_timeout: 300 }),
  });
const holding = (...sentences: string[]) => sentences.map((sentence) => expect.stringContaining(sentence));
const says = async (...[sentences, ...asked]: [string[], ...Parameters<typeof find>]) =>
  expect((await find(...asked)).said('check failed')).toEqual(holding(...sentences));
const altered = (address = '', change: Partial<URL> = {}) => Object.assign(new URL(address), change).href;
const whenFinished = (sql: string) => onTestFinished(async () => void (await database.sql(sql)));

test('a whole installation passes, before its migrations too, and what has no setting is skipped', async () => {
  const all = ['postgres', 'signing keys', 'e-mail addresses', 'redis'];
  expect((await find('identity')).passed).toEqual(all);
  const absent = ['POSTGRES_URL', 'OPERATOR_POSTGRES_URL', 'REDIS_URL'];
  const { code, said } = await find('identity', Object.fromEntries(absent.map((name) => [name, ''])));
  expect([code, said('check skipped')]).toEqual([0, absent.map((name) => `${name} is not set here.`)]);
  await says([], 'design-catalog');
});

test('the job reports all faults at once, changes nothing and ends with 1, or 0 with --report', async () => {
  const POSTGRES_URL = altered(installed.identity.POSTGRES_URL, { password: 'wrong-7c1f' });
  const wrong = { POSTGRES_URL, REDIS_URL: 'redis://127.0.0.1:1' };
  const run = (...words: string[]) => runJob('identity', { ...installed.identity, ...wrong }, ...words);
  const endings = await Promise.all([run(), run('--report')]);
  expect(endings.map(({ code }) => code)).toEqual([1, 0]);
  for (const { said, output } of endings) {
    const faults = ['POSTGRES_URL cannot log in as identity_rw (28P01)', '(ECONNREFUSED)'];
    expect(said('check failed')).toEqual(holding(...faults));
    expect(output).not.toContain('7c1f');
  }
  expect(await database.sql(`select from pg_namespace where nspname = 'identity'`)).toEqual([]);
});

test('settings that production refuses and unknown arguments are reported without the stores', async () => {
  const insecure = { ISSUER: 'http://exchange.example', REDIS_CLUSTER: 'true' };
  await expect(find('identity', insecure)).rejects.toThrow(/REDIS_MIN_REPLICAS is not.*ISSUER is not valid/s);
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  expect(await job(database.superuser, { words: ['--chekc'] })).toBe(1);
  const { readMigrationConfig: readConfig } = catalog;
  expect(await job(database.superuser, { words: ['--report'], readConfig })).toBe(0);
  expect(write.mock.calls.join()).toMatch(/Pass nothing, --check or --report.*MIGRATOR_POSTGRES_URL/s);
});

test('the job migrates, and all is well after it; a schema newer than the image is a warning', async () => {
  const { code, output } = await runJob('identity', installed.identity);
  expect(code, output).toBe(0);
  expect(await job(database.as('catalog_migrator'))).toBe(0);
  for (const name of ['identity', 'design-catalog'] as const) await says([], name);
  await database.sql('insert into catalog.schema_migrations (version) values (9)');
  whenFinished('delete from catalog.schema_migrations where version = 9');
  const found = await find('design-catalog');
  const sentence = 'The schema catalog has version 9 and this image knows 2: it stays as it is;';
  expect([found.code, found.said('check warns')]).toEqual([0, holding(sentence)]);
  expect(await migrate(database.as('catalog_migrator'), 'catalog', migrations)).toEqual([]);
});

/** What is wrong, what puts it right, and what is said. */
const states = `
alter role identity_migrator reset role | alter role identity_migrator set role = course_exchange_owner | logs in as identity_migrator, which cannot migrate
alter schema identity owner to postgres | alter schema identity owner to course_exchange_owner | cannot migrate as course_exchange_owner
alter role identity_operator rename to nobody | alter role nobody rename to identity_operator | cannot migrate as course_exchange_owner
alter role identity_rw nologin | alter role identity_rw login | cannot log in as identity_rw (28000)
revoke usage on schema identity from identity_rw | grant usage on schema identity to identity_rw | lacks rights of identity_rw in the schema identity
alter role identity_rw set default_transaction_read_only = on | alter role identity_rw reset default_transaction_read_only | lacks rights of identity_rw
alter role identity_rw createrole bypassrls | alter role identity_rw nocreaterole nobypassrls | is or can become bypassrls, createrole: revoke that
grant course_exchange_owner to identity_rw | revoke course_exchange_owner from identity_rw | is or can become course_exchange_owner: revoke that`;
const rows = states.trim().split('\n');
test.each(rows.map((row) => row.split(' | ') as [string, string, string]))('%s', async (...row) => {
  const [wrong, right, sentence] = row;
  await database.sql(wrong);
  whenFinished(right);
  await says([sentence], 'identity', { OPERATOR_POSTGRES_URL: '' });
});

test('a second login will do while it has the rights of the role, in the same database', async () => {
  const username = `login_${randomBytes(6).toString('hex')}`;
  await database.sql(`create role ${username} login password 'one' in role catalog_feed;
    grant connect on database ${database.name} to ${username}`);
  whenFinished(`drop owned by ${username}; drop role ${username}`);
  const FEED_POSTGRES_URL = altered(database.superuser, { username, password: 'one' });
  await says([], 'design-catalog', { FEED_POSTGRES_URL });
  await database.sql(`revoke catalog_feed from ${username}`);
  const sentence = `FEED_POSTGRES_URL logs in as ${username}, which lacks rights of catalog_feed`;
  await says([sentence], 'design-catalog', { FEED_POSTGRES_URL });
});

test('a key that does not decrypt the signing keys', async () => {
  const KEY_ENCRYPTION_KEY = randomBytes(32).toString('base64url');
  await says(['KEY_ENCRYPTION_KEY does not decrypt the signing keys (2 of 2)'], 'identity', {
    KEY_ENCRYPTION_KEY,
  });
  await says([], 'identity', { KEY_ENCRYPTION_KEY, KEY_ENCRYPTION_KEY_PREVIOUS: key });
});

test('a connection of production that leaves the machine needs a certificate that verifies, for its name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'course-exchange-preflight-'));
  const ours = await createAuthority('Stores');
  const issued = await ours.issue(['0.0.0.0']);
  writeFileSync(join(folder, 'ours'), ours.certificate);
  writeFileSync(join(folder, 'stranger'), (await createAuthority('Stranger')).certificate);
  // The server writes the files itself, because it must own the key.
  for (const [file, pem] of Object.entries({ crt: issued.certificate, key: issued.key })) {
    const lines = `select unnest(string_to_array('${pem}', E'\\n'))`;
    await database.sql(`copy (${lines}) to program 'umask 077; cat > server.${file}'`);
  }
  const reload = async (sql: string) => {
    await database.sql(sql);
    await database.sql('select pg_reload_conf()');
  };
  await reload('alter system set ssl = on');
  onTestFinished(async () => {
    await reload('alter system reset ssl');
    rmSync(folder, { recursive: true });
  });
  const feedSays = (sentences: string[], search: string, ENVIRONMENT = 'production', host = '0.0.0.0') => {
    const MIGRATOR_POSTGRES_URL = altered(database.as('catalog_migrator'), {
      host: `${host}:${port}`,
      search,
    });
    return says(sentences, 'design-catalog', { MIGRATOR_POSTGRES_URL, ENVIRONMENT });
  };
  const verified = (authority: string) => `?sslmode=verify-full&sslrootcert=${folder}/${authority}`;
  await feedSays([], verified('ours'));
  await feedSays([], '', 'test');
  const sentence = 'MIGRATOR_POSTGRES_URL has no verified TLS, which production requires';
  for (const search of ['', '?sslmode=no-verify']) await feedSays([sentence], search);
  await feedSays(['cannot log in as catalog_migrator (UNABLE_TO_VERIFY'], verified('stranger'));
  await feedSays(['(ERR_TLS_CERT_ALTNAME_INVALID)'], verified('ours'), 'production', '127.0.0.1');
});

test('a server that lets everybody in, and then closes or is silent: the job ends', async () => {
  const urlOf = async (closes = false) => {
    const link = await openLink(Number(port), (client, upstream) => {
      let faulty = false;
      client.on('data', (bytes: Buffer) => {
        faulty ||= ['Q', 'P'].includes(String.fromCharCode(bytes[0] ?? 0));
        if (!faulty) upstream.write(bytes);
        else if (closes) client.destroy();
      });
      upstream.pipe(client, { end: false });
    });
    onTestFinished(link.close);
    return altered(database.as('catalog_migrator'), { host: `127.0.0.1:${link.port}` });
  };
  const silent = { connectionString: await urlOf(), lock_timeout: 300 };
  const migration = expect(migrate(silent, 'catalog', migrations)).rejects.toThrow('Query read timeout');
  const sentence = 'MIGRATOR_POSTGRES_URL cannot log in as catalog_migrator (no answer)';
  await says([sentence], 'design-catalog', { MIGRATOR_POSTGRES_URL: await urlOf(true) });
  await migration;
});

test('a pooler that takes the settings of a connection and drops them is named', async () => {
  const link = await openLink(Number(port), (client, upstream) => {
    client.on('data', (bytes: Buffer) => {
      upstream.write(
        bytes.toString('latin1').replace('search_path=catalog', 'search_path=dropped'),
        'latin1',
      );
    });
    upstream.pipe(client);
  });
  onTestFinished(link.close);
  const MIGRATOR_POSTGRES_URL = altered(database.as('catalog_migrator'), { host: `127.0.0.1:${link.port}` });
  const sentence = 'MIGRATOR_POSTGRES_URL: A connection pooler stands before Postgres and drops the settings';
  await says([sentence], 'design-catalog', { MIGRATOR_POSTGRES_URL });
});

test.each([
  [`select pg_advisory_lock(hashtext('migrate catalog'))`, ['another job is migrating this schema']],
  ['create table catalog.designs (id text)', ['a table was locked', '"migration":"catalog 1"']],
])(
  'a job waits too long for "%s": it says so and undoes its work, and the next does it',
  async (held, lines) => {
    const own = await openJobDatabase();
    onTestFinished(own.close);
    const url = own.as('catalog_migrator');
    await migrate(url, 'catalog', migrations, 0);
    const holder = new pg.Client(own.superuser);
    await holder.connect();
    await holder.query('begin');
    await holder.query(held);
    let output = '';
    const logger = collecting((line) => (output += line));
    expect(await job(url, { logger })).toBe(1);
    for (const line of lines) expect(output).toContain(line);
    expect(await own.sql('select from catalog.schema_migrations where version > 0')).toEqual([]);
    await holder.end();
    expect(await job(url)).toBe(0);
  },
);
