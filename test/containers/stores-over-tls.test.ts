// TLS to both stores, verified by authority and name: with it the whole system works, and without it nobody gets in. What
// is wrong is said in a sentence, by the job that looks before it migrates and by the service that is not ready.
import { Wait } from 'testcontainers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { send } from '../support/http.ts';
import { type Environment, runToEnd, service } from './product-container.ts';
import { identityMigrations, type System, startSystem } from './system.ts';
import { misled, redisAccount, startTlsStores, type TlsStores, verified } from './tls-stores.ts';
import { walkThrough } from './walk.ts';

let stores: TlsStores;
let system: System;
let right: Environment;

beforeAll(async () => {
  stores = await startTlsStores();
  const redis = { REDIS_TLS_CA_FILE: '/given/ca.crt' };
  system = await startSystem(stores, { environment: { identity: redis } });
  right = {
    ...redis,
    ISSUER: system.issuer,
    ENVIRONMENT: 'test',
    KEY_ENCRYPTION_KEY: stores.keyEncryptionKey,
    MIGRATOR_POSTGRES_URL: stores.postgresUrl('identity_migrator'),
    POSTGRES_URL: stores.postgresUrl('identity_rw'),
    OPERATOR_POSTGRES_URL: stores.postgresUrl('identity_operator'),
    REDIS_URL: stores.redisUrl(),
  };
});

afterAll(async () => {
  await system?.close();
  await stores?.close();
});

test('a partner gets tokens and reads events', () => walkThrough(system.issuer));

test('every connection of ours to Postgres is encrypted', async () => {
  const rows = await stores.query(
    `select usename, count(*)::int as connections, bool_and(ssl) as encrypted, min(version) as version
     from pg_stat_ssl join pg_stat_activity using (pid) where usename like any (array['identity%', 'catalog%']) group by 1 order by 1`,
  );
  console.log(
    `figure: TLS to Postgres: ${rows.map(({ usename, version }) => `${usename} ${version}`).join(', ')}`,
  );
  expect(rows.map(({ usename }) => usename)).toEqual(expect.arrayContaining(['catalog_ro', 'identity_rw']));
  expect(rows.every(({ encrypted }) => encrypted)).toBe(true);
});

test('the job finds nothing wrong where all is right', async () => {
  const { code, output } = await check({});
  expect({ code, output }).toMatchObject({ code: 0 });
});

/** What is set wrong, and what must be said about it. */
const mistakes: readonly (readonly [string, 'postgres' | 'redis', () => Environment, RegExp])[] = [
  [
    'the authority of Postgres',
    'postgres',
    () => postgres((url) => url.replace(verified, misled)),
    /certificate that is not trusted/,
  ],
  [
    'the name of Postgres',
    'postgres',
    () => postgres((url) => url.replace('@postgres:', `@${ipOf('postgres')}:`)),
    /another name than/,
  ],
  [
    'no TLS to Postgres',
    'postgres',
    () => postgres((url) => url.replace(verified, '')),
    /only connections with TLS/,
  ],
  [
    'the authority of Redis',
    'redis',
    () => ({ REDIS_TLS_CA_FILE: '/given/stranger.crt' }),
    /certificate|trusted/,
  ],
  ['the name of Redis', 'redis', () => ({ REDIS_URL: stores.redisUrl(`${ipOf('redis')}:6379`) }), /name/],
  [
    'no TLS to Redis',
    'redis',
    () => ({ REDIS_TLS_CA_FILE: '', REDIS_URL: stores.redisUrl().replace('rediss:', 'redis:') }),
    /TLS|rediss/,
  ],
  ['the password of Redis', 'redis', () => ({ REDIS_PASSWORD: 'wrong' }), /password/],
];

test.each(mistakes)(
  '%s is wrong: the job says so in a sentence and ends with 1, identity is not whole',
  async (_, store, mistake, sentence) => {
    const [{ code, output }, problems] = await Promise.all([check(mistake()), problemsOfIdentity(mistake())]);
    const said = output.split('\n').filter((line) => sentence.test(line));
    expect({ code, said: said.length > 0 }).toEqual({ code: 1, said: true });
    expect(output).not.toContain(redisAccount.password);
    expect(problems).toMatchObject({
      status: 503,
      checks: { [store]: expect.stringMatching(/\w+ \w+ \w+/) },
    });
  },
);

/** What an identity that never reached a store says of itself. */
async function problemsOfIdentity(mistake: Environment): Promise<{ status: number; checks: unknown }> {
  const container = await service('identity', {
    ...right,
    USER_HASH_KEY: stores.keyEncryptionKey,
    RPC_PORT: '7001',
    ...mistake,
  })
    .withNetwork(stores.network)
    .withBindMounts([{ source: `${stores.given}`, target: '/given', mode: 'ro' }])
    .withWaitStrategy(Wait.forHttp('/livez', 8099).forStatusCode(200))
    .start();
  try {
    const url = `http://${container.getHost()}:${container.getMappedPort(8099)}/healthz`;
    await expect
      .poll(async () => (await send(url)).json().phase, { timeout: 10_000, interval: 100 })
      .toBe('running');
    const answer = await send(url);
    return { status: answer.status, checks: answer.json().checks };
  } finally {
    await container.stop();
  }
}

function postgres(change: (url: string) => string): Environment {
  const names = ['MIGRATOR_POSTGRES_URL', 'POSTGRES_URL', 'OPERATOR_POSTGRES_URL'];
  return Object.fromEntries(names.map((name) => [name, change(right[name] ?? '')]));
}

function ipOf(store: 'postgres' | 'redis'): string {
  return stores.containers[store].getIpAddress(stores.network.getName());
}

function check(mistake: Environment) {
  const command = [identityMigrations, '--check'];
  return runToEnd('migrations', {
    command,
    network: stores.network,
    given: stores.given,
    environment: { ...right, ...mistake },
  });
}
