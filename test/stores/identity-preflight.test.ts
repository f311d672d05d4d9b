// identity's migration job with --check: each way in which an installation can be wrong, in one sentence.
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobDatabase, openJobDatabase, runJob } from './migration-jobs.ts';

const key = randomBytes(32).toString('base64url');
let database: JobDatabase;
let whole: Record<string, string>;

beforeEach(async () => {
  database = await openJobDatabase();
  whole = {
    KEY_ENCRYPTION_KEY: key,
    MIGRATOR_POSTGRES_URL: database.as('identity_migrator'),
    POSTGRES_URL: database.as('identity_rw'),
    OPERATOR_POSTGRES_URL: database.as('identity_operator'),
    REDIS_URL: process.env.TEST_REDIS_URL ?? '',
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
/** The address of `role` with something in it changed. */
function altered(role: 'identity_rw' | 'identity_migrator', change: (url: URL) => void): string {
  const url = new URL(database.as(role));
  change(url);
  return url.href;
}
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
  await database.sql('alter table identity.signing_keys drop column removed_at');
  const ending = await check();
  expect(ending.code, ending.output).toBe(0);
  expect(ending.passed).toContain('signing keys');
});

test('leaves out what has no setting, and says so', async () => {
  const { KEY_ENCRYPTION_KEY = '', MIGRATOR_POSTGRES_URL = '' } = whole;
  const ending = await runJob('identity', { KEY_ENCRYPTION_KEY, MIGRATOR_POSTGRES_URL }, '--check');
  expect(ending.code, ending.output).toBe(0);
  const absent = ['ISSUER', 'POSTGRES_URL', 'OPERATOR_POSTGRES_URL', 'REDIS_URL'];
  expect(ending.said('check left out')).toEqual(absent.map((name) => `${name} is not set here.`));
});

test('tells all failures at once, and migrates nothing', async () => {
  const ending = await runJob('identity', {
    ...whole,
    POSTGRES_URL: altered('identity_rw', (url) => {
      url.password = 'wrong-7c1f';
    }),
    REDIS_URL: 'redis://127.0.0.1:1',
    PUBLIC_HOST: 'other.example',
  });
  expect(ending.code).toBe(1);
  expect(ending.said('check failed')).toHaveLength(3);
  expect(ending.output).not.toContain('7c1f');
  expect(await schemas()).toEqual([]);
});

describe('Postgres', () => {
  const where = () => `Postgres at ${new URL(database.superuser).host}`;
  const cases: readonly [string, (url: URL) => void, () => string][] = [
    [
      'a wrong password',
      (url) => {
        url.password = 'wrong';
      },
      () =>
        `${where()} refuses the password of identity_rw: set the password of POSTGRES_URL (POSTGRES_PASSWORD) or alter the role.`,
    ],
    [
      'a database that is not there',
      (url) => {
        url.pathname = '/nowhere';
      },
      () => `${where()} has no database nowhere: create it, or correct the name in POSTGRES_URL.`,
    ],
    [
      'a name that DNS does not know',
      (url) => {
        url.hostname = 'db.invalid';
      },
      () => 'The name db.invalid of POSTGRES_URL is not known to DNS: correct the host.',
    ],
    [
      'a port where nobody listens',
      (url) => {
        url.port = '1';
      },
      () =>
        'Postgres at 127.0.0.1:1 refuses connections: start Postgres, or correct host and port in POSTGRES_URL.',
    ],
    [
      'a server without TLS that is asked for it',
      (url) => {
        url.search = '?sslmode=verify-full';
      },
      () =>
        `${where()} speaks no TLS, which sslmode in POSTGRES_URL asks for: turn it on at the server, or name the right port.`,
    ],
    [
      'the account of another',
      (url) => {
        url.username = 'catalog_ro';
      },
      () =>
        'POSTGRES_URL logs in as catalog_ro, which is not identity_rw and has not its rights: name identity_rw there, or a login that is in it and inherits.',
    ],
  ];
  test.each(cases)('%s', async (_name, change, sentence) => {
    expect(await failures({ POSTGRES_URL: altered('identity_rw', change) })).toEqual([sentence()]);
  });

  test('two settings that lead to different databases', async () => {
    const other = await openJobDatabase();
    try {
      for (const role of ['identity_rw', 'identity_operator', 'identity_migrator'])
        await database.sql(`alter role ${role} password 'one'`);
      const one = (name: string, role: string) =>
        Object.assign(new URL(database.superuser), { username: role, password: 'one', pathname: `/${name}` })
          .href;
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

describe('Redis', () => {
  const redisUrl = (change: (url: URL) => void) => {
    const url = new URL(whole.REDIS_URL ?? '');
    change(url);
    return url.href;
  };
  test('a wrong password', async () => {
    const REDIS_URL = redisUrl((url) => {
      url.password = 'wrong-91e2';
    });
    expect(await failures({ REDIS_URL })).toEqual([
      expect.stringMatching(
        /^Redis at \S+ refuses user or password: correct REDIS_USERNAME and REDIS_PASSWORD\.$/,
      ),
    ]);
  });
  test('none at all', async () => {
    const REDIS_URL = redisUrl((url) => {
      url.password = '';
    });
    expect(await failures({ REDIS_URL })).toEqual([
      expect.stringMatching(/^Redis at \S+ asks for a password: set REDIS_PASSWORD\.$/),
    ]);
  });
  test('TLS where there is none', async () => {
    const REDIS_URL = (whole.REDIS_URL ?? '').replace('redis:', 'rediss:');
    expect(await failures({ REDIS_URL })).toEqual([
      expect.stringMatching(/does not answer by TLS: .* write redis:\/\/ if it has no TLS/),
    ]);
  });
  test('a name that DNS does not know', async () => {
    expect(await failures({ REDIS_URL: 'redis://redis.invalid' })).toEqual([
      'A host of REDIS_URL is not known to DNS (redis.invalid): correct it.',
    ]);
  });
  test('settings that lose tokens', async () => {
    const redis = new Redis(whole.REDIS_URL ?? '');
    const [, before = 'always'] = (await redis.config('GET', 'appendfsync')) as string[];
    try {
      await redis.config('SET', 'appendfsync', 'everysec');
      expect(await failures({})).toEqual([
        expect.stringMatching(/^Redis at \S+ may lose or bring back tokens: set appendfsync always\.$/),
      ]);
    } finally {
      await redis.config('SET', 'appendfsync', before);
      redis.disconnect();
    }
  });
  test('too few replicas', async () => {
    expect(await failures({ REDIS_MIN_REPLICAS: '1' })).toEqual([
      expect.stringMatching(
        /has 0 replicas and REDIS_MIN_REPLICAS is 1: connect more, or no token will leave\.$/,
      ),
    ]);
  });
});

test('the issuer: https in production, and the host of the ingress', async () => {
  expect(await failures({ ISSUER: 'http://exchange.example' })).toEqual([
    'ISSUER is http://exchange.example, but production needs https: set an https address.',
  ]);
  expect(await failures({ PUBLIC_HOST: 'www.example' })).toEqual([
    'The host of ISSUER is exchange.example, but the ingress answers for www.example: set both to the host that partners call.',
  ]);
});

test('an argument that it does not know', async () => {
  const { code, output } = await runJob('identity', whole, '--chekc');
  expect({ code, output }).toEqual({
    code: 1,
    output: 'The only argument is --check: it looks, and changes nothing.\n',
  });
});
