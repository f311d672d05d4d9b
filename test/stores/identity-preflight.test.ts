// identity's migration job with --check: each way in which an installation can be wrong, in one sentence.
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobDatabase, openJobDatabase, runJob } from './migration-jobs.ts';

const key = randomBytes(32).toString('base64url');
let database: JobDatabase;
let whole: Record<string, string>;

beforeEach(async () => {
  database = await openJobDatabase();
  whole = {
    KEY_ENCRYPTION_KEY: key,
    ...database.settings('identity'),
    REDIS_URL: process.env.TEST_REDIS_URL ?? '',
    REDIS_USERNAME: 'identity',
    ISSUER: 'https://exchange.example',
    ENVIRONMENT: 'production',
    PUBLIC_HOST: 'exchange.example',
  };
});
afterEach(() => database.close());

const check = (changed: Record<string, string> = {}) =>
  runJob('identity', { ...whole, ...changed }, '--check');
const failures = async (changed: Record<string, string>) => {
  const ending = await check(changed);
  expect(ending.code, ending.output).toBe(1);
  return ending.said('check failed');
};
/** An address with something in it changed. */
const altered = (address: string | undefined, change: Partial<URL>) =>
  Object.assign(new URL(address ?? ''), change).href;
const schemas = () =>
  database.sql(`select nspname from pg_namespace where nspname in ('identity', 'catalog')`);

test('a whole installation passes, each group says so, and nothing was changed', async () => {
  const ending = await check();
  expect(ending.code, ending.output).toBe(0);
  expect(ending.passed).toEqual(['issuer', 'postgres', 'roles', 'schema', 'signing keys', 'redis']);
  expect(await schemas()).toEqual([]);
});

test('passes on a migrated database too, and on one that is only at its first version', async () => {
  expect((await runJob('identity', whole)).code).toBe(0);
  expect((await check()).code).toBe(0);
  await database.sql('delete from identity.schema_migrations where version > 1');
  const ending = await check();
  expect(ending.code, ending.output).toBe(0);
  expect(ending.passed).toContain('signing keys');
});

test('leaves out what has no setting, and says so', async () => {
  const { KEY_ENCRYPTION_KEY = '', MIGRATOR_POSTGRES_URL = '' } = whole;
  const ending = await runJob('identity', { KEY_ENCRYPTION_KEY, MIGRATOR_POSTGRES_URL }, '--check');
  expect(ending.code, ending.output).toBe(0);
  const absent = ['ISSUER', 'POSTGRES_URL', 'OPERATOR_POSTGRES_URL', 'REDIS_URL'];
  expect(ending.said('check skipped')).toEqual(absent.map((name) => `${name} is not set here.`));
});

test('with --report it tells the same and does not fail, so that the other job can tell its own', async () => {
  for (const [changed, told] of [
    [{ PUBLIC_HOST: 'other.example' }, 'check failed'],
    [{ KEY_ENCRYPTION_KEY: 'short' }, undefined],
  ] as const) {
    const ending = await runJob('identity', { ...whole, ...changed }, '--report');
    expect(ending.code, ending.output).toBe(0);
    if (told === undefined) expect(ending.output).toContain('KEY_ENCRYPTION_KEY');
    else expect(ending.said(told)).toHaveLength(1);
  }
  expect(await schemas()).toEqual([]);
});

test('what production may not be set to is told, whether or not Redis answers', async () => {
  const insecure = { ISSUER: 'http://exchange.example', REDIS_URL: 'redis://127.0.0.1:1' };
  const ending = await check({ ...insecure, REDIS_CLUSTER: 'true' });
  expect(ending.code).toBe(1);
  expect(ending.output).toContain('ISSUER is not valid: expected https:// where ENVIRONMENT is production');
  expect(ending.output).toContain('REDIS_MIN_REPLICAS is not valid: expected 1 or more');
});

test('tells all failures at once, and migrates nothing', async () => {
  const ending = await runJob('identity', {
    ...whole,
    POSTGRES_URL: altered(whole.POSTGRES_URL, { password: 'wrong-7c1f' }),
    REDIS_URL: 'redis://127.0.0.1:1',
    PUBLIC_HOST: 'other.example',
  });
  expect(ending.code).toBe(1);
  expect(ending.said('check failed')).toHaveLength(3);
  expect(ending.output).not.toContain('7c1f');
  expect(await schemas()).toEqual([]);
});

describe('Postgres', () => {
  const cases: readonly [string, Partial<URL>, string][] = [
    [
      'a wrong password',
      { password: 'wrong' },
      'WHERE refuses the password of identity_rw: set the password of POSTGRES_URL (POSTGRES_PASSWORD) or alter the role.',
    ],
    [
      'a database that is not there',
      { pathname: '/nowhere' },
      'WHERE has no database nowhere: create it, or correct the name in POSTGRES_URL.',
    ],
    [
      'a name that DNS does not know',
      { hostname: 'db.invalid' },
      'The name db.invalid of POSTGRES_URL is not known to DNS: correct the host.',
    ],
    [
      'a port where nobody listens',
      { port: '1' },
      'Postgres at 127.0.0.1:1 refuses connections: start Postgres, or correct host and port in POSTGRES_URL.',
    ],
    [
      'a server without TLS that is asked for it',
      { search: '?sslmode=verify-full' },
      'WHERE speaks no TLS, which sslmode in POSTGRES_URL asks for: turn it on at the server, or name the right port.',
    ],
    [
      'the account of another',
      { username: 'catalog_ro' },
      'POSTGRES_URL logs in as catalog_ro, which is not identity_rw and has not its rights: name identity_rw there, or a login that is in it and inherits.',
    ],
  ];
  test.each(cases)('%s', async (_name, change, sentence) => {
    const expected = sentence.replace('WHERE', `Postgres at ${new URL(database.superuser).host}`);
    expect(await failures({ POSTGRES_URL: altered(whole.POSTGRES_URL, change) })).toEqual([expected]);
  });

  test('two settings that lead to different databases', async () => {
    const other = await openJobDatabase();
    try {
      for (const role of ['identity_rw', 'identity_operator', 'identity_migrator'])
        await database.sql(`alter role ${role} password 'one'`);
      const one = (name: string, username: string) =>
        altered(database.superuser, { username, password: 'one', pathname: `/${name}` });
      expect(
        await failures({
          MIGRATOR_POSTGRES_URL: one(database.name, 'identity_migrator'),
          POSTGRES_URL: one(other.name, 'identity_rw'),
          OPERATOR_POSTGRES_URL: one(database.name, 'identity_operator'),
        }),
      ).toEqual([
        'POSTGRES_URL leads to another database than MIGRATOR_POSTGRES_URL: name the same server and database in both.',
      ]);
    } finally {
      await other.close();
    }
  });
});

describe('roles', () => {
  const cases: readonly [string, string, string, RegExp][] = [
    [
      'the owner may not create here',
      'revoke create on database :db from course_exchange_owner',
      '',
      /^course_exchange_owner may not create a schema .*: run deploy\/postgres\/roles\.sql in the database/,
    ],
    [
      'the migrator does not work as the owner',
      'alter role identity_migrator reset role',
      'alter role identity_migrator set role = course_exchange_owner',
      /works as identity_migrator and not as course_exchange_owner: log in as identity_migrator, and run deploy/,
    ],
    [
      'a service is a superuser',
      'alter role identity_rw superuser',
      'alter role identity_rw nosuperuser',
      /^identity_rw is superuser: alter the role with NOSUPERUSER\.$/,
    ],
    [
      'a service owns a table',
      'create table public.mine (a int); alter table public.mine owner to identity_rw',
      '',
      /^identity_rw owns 1 tables or indexes: give them to course_exchange_owner/,
    ],
    [
      'a service may create',
      'grant create on schema public to identity_rw',
      '',
      /^identity_rw may create in the schema public: /,
    ],
    [
      'a service is a member of the owner',
      'grant course_exchange_owner to identity_rw',
      'revoke course_exchange_owner from identity_rw',
      /^identity_rw is a member of course_exchange_owner: revoke course_exchange_owner from identity_rw\.$/,
    ],
    [
      'the schema belongs to another',
      'create schema identity',
      '',
      /^The schema identity belongs to postgres: give it/,
    ],
  ];
  test.each(cases)('%s', async (_name, wrong, right, sentence) => {
    await database.sql(wrong.replace(':db', database.name));
    try {
      expect(await failures({})).toEqual([expect.stringMatching(sentence)]);
    } finally {
      if (right !== '') await database.sql(right);
    }
  });

  test('the database was made without them: one sentence says what to run', async () => {
    const bare = await openJobDatabase(false);
    try {
      const said = await failures({
        MIGRATOR_POSTGRES_URL: bare.superuser,
        POSTGRES_URL: '',
        OPERATOR_POSTGRES_URL: '',
      });
      expect(said).toContainEqual(
        expect.stringContaining(
          `run deploy/postgres/roles.sql in the database ${bare.name}, as superuser or as its owner with CREATEROLE.`,
        ),
      );
    } finally {
      await bare.close();
    }
  });
});

test('a key that does not open the signing keys', async () => {
  expect((await runJob('identity', whole)).code).toBe(0);
  const other = randomBytes(32).toString('base64url');
  expect(await failures({ KEY_ENCRYPTION_KEY: other })).toEqual([
    'KEY_ENCRYPTION_KEY does not open the signing keys (2 of 2): give the key that sealed them, here or as KEY_ENCRYPTION_KEY_PREVIOUS.',
  ]);
  expect((await check({ KEY_ENCRYPTION_KEY: other, KEY_ENCRYPTION_KEY_PREVIOUS: key })).code).toBe(0);
});

test('the issuer: the host of the ingress', async () => {
  expect(await failures({ PUBLIC_HOST: 'www.example' })).toEqual([
    'The host of ISSUER is exchange.example, but the ingress answers for www.example: set both to the host that partners call.',
  ]);
});

test('an argument that it does not know', async () => {
  const { code, output } = await runJob('identity', whole, '--chekc');
  expect({ code, output }).toEqual({
    code: 1,
    output:
      'The only argument is --check, or --report, whose exit code is 0: both look, and change nothing.\n',
  });
});
