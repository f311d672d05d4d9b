// TLS to both stores, verified by authority and name: with it the whole system works, and without it nobody gets in. What
// is wrong is said in a sentence, by the job that looks before it migrates and by the service that is not ready.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageOf } from '@course-exchange/testcontainers/images';
import { type Environment, runToEnd, service } from '@course-exchange/testcontainers/product-container';
import { identityMigrations } from '@course-exchange/testcontainers/system';
import { Wait } from 'testcontainers';
import { afterAll, beforeAll, type ExpectStatic, expect, test } from 'vitest';
import { createAuthority, type Issued } from '../rpc/certificate-authority.ts';
import { send } from '../support/http.ts';
import { walkThrough } from './login-walkthrough.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { type Stores, type System, startStores, startSystem } from './system.ts';

const folderInside = '/given';
const redisAccount = { user: 'identity', password: 'test-redis-password' };
const verified = `?sslmode=verify-full&sslrootcert=${folderInside}/ca.crt`;
/** Names the authority that signed nothing. */
const misled = `?sslmode=verify-full&sslrootcert=${folderInside}/stranger.crt`;

/** The caller deletes the folder `given`. */
async function startTlsStores(): Promise<Stores> {
  const ours = await createAuthority('Stores');
  const stranger = (await createAuthority('Stranger')).certificate;
  const forPostgres = await ours.issue(['postgres', 'localhost']);
  const forRedis = await ours.issue(['redis']);
  const folder = mkdtempSync(join(tmpdir(), 'course-exchange-tls-'));
  // The account of the images reads it.
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'ca.crt'), ours.certificate);
  writeFileSync(join(folder, 'stranger.crt'), stranger);
  return startStores({
    postgres: (network) =>
      startPostgres(network, {
        firstStart: encryptedOnly(forPostgres),
        ssl: { ca: ours.certificate, servername: 'postgres' },
      }),
    redis: (network) => {
      const { certificate, key } = forRedis;
      const files = { '/tls/tls.crt': certificate, '/tls/tls.key': key, '/tls/ca.crt': ours.certificate };
      return startRedis(network, { words: encryptedRedis, files });
    },
    given: folder,
    postgresQuery: verified,
    redisUrl: `rediss://${redisAccount.user}:${redisAccount.password}@redis:6379`,
  });
}

function encryptedOnly({ certificate, key }: Issued): string {
  return [
    `cat > server.crt <<'PEM'\n${certificate}PEM`,
    `cat > server.key <<'PEM'\n${key}PEM`,
    'chmod 600 server.key',
    "echo 'ssl = on' >> postgresql.conf",
    "printf '%s\\n' 'local all all trust' 'hostssl all all all scram-sha-256' > pg_hba.conf",
  ].join('\n');
}

/** Words of a server that has no other port and no default user. */
const encryptedRedis = [
  ...'--port 0 --tls-port 6379 --tls-auth-clients no'.split(' '),
  ...'--tls-cert-file /tls/tls.crt --tls-key-file /tls/tls.key --tls-ca-cert-file /tls/ca.crt'.split(' '),
  ...'--user default off'.split(' '),
  ...`--user ${redisAccount.user} on >${redisAccount.password} ~* +@all`.split(' '),
];

let stores: Stores;
let system: System;
let right: Environment;

beforeAll(async () => {
  stores = await startTlsStores();
  const redis = { REDIS_TLS_CA_FILE: '/given/ca.crt' };
  system = await startSystem(stores, { identity: redis });
  right = {
    ...redis,
    ISSUER: system.issuer,
    ENVIRONMENT: 'test',
    KEY_ENCRYPTION_KEY: stores.keyEncryptionKey,
    MIGRATOR_POSTGRES_URL: stores.postgresUrl('identity_migrator'),
    POSTGRES_URL: stores.postgresUrl('identity_rw'),
    OPERATOR_POSTGRES_URL: stores.postgresUrl('identity_operator'),
    REDIS_URL: stores.redisUrl,
  };
});

afterAll(() => rmSync(stores.given ?? '', { recursive: true, force: true }));

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

test.each(['test', 'production'])(
  'the job finds nothing wrong where all is right: %s',
  async (ENVIRONMENT) => {
    const { code, output } = await check({
      ENVIRONMENT,
      ISSUER: 'https://exchange.example',
      PUBLIC_HOST: 'exchange.example',
    });
    expect({ code, output }).toMatchObject({ code: 0 });
  },
);

/** What is set wrong, and what must be said about it. */
const mistakes: readonly (readonly [string, 'postgres' | 'redis', () => Environment, RegExp])[] = [
  [
    'the authority of Postgres',
    'postgres',
    () => postgres((url) => url.replace(verified, misled)),
    /certificate that does not verify/,
  ],
  [
    'the name of Postgres',
    'postgres',
    () => postgres((url) => url.replace('@postgres:', `@${ipOf('postgres')}:`)),
    /ALTNAME/,
  ],
  [
    'no TLS to Postgres',
    'postgres',
    () => postgres((url) => url.replace(verified, '')),
    /TLS \(sslmode=verify-full\)/,
  ],
  [
    'the authority of Redis',
    'redis',
    () => ({ REDIS_TLS_CA_FILE: '/given/stranger.crt' }),
    /certificate|trusted/,
  ],
  [
    'the name of Redis',
    'redis',
    () => ({ REDIS_URL: stores.redisUrl.replace('redis:6379', `${ipOf('redis')}:6379`) }),
    /ALTNAME/,
  ],
  [
    'no TLS to Redis',
    'redis',
    () => ({ REDIS_TLS_CA_FILE: '', REDIS_URL: stores.redisUrl.replace('rediss:', 'redis:') }),
    /TLS|rediss/,
  ],
  ['the password of Redis', 'redis', () => ({ REDIS_PASSWORD: 'wrong' }), /password/],
];

test.concurrent.for(mistakes)(
  '%s is wrong: the job says so in a sentence and ends with 1, identity is not healthy',
  async ([_, store, mistake, sentence], { expect }) => {
    const [{ code, output }, problems] = await Promise.all([
      check(mistake()),
      problemsOfIdentity(mistake(), expect),
    ]);
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
async function problemsOfIdentity(
  mistake: Environment,
  expecting: ExpectStatic,
): Promise<{ status: number; checks: unknown }> {
  const container = await service(imageOf('identity'), {
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
    await expecting
      .poll(async () => (await send(url)).json().phase, { timeout: 60_000, interval: 100 })
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
  return runToEnd(imageOf('migrations'), {
    command,
    network: stores.network,
    given: stores.given,
    environment: { ...right, ...mistake },
  });
}
