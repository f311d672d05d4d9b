// One system by images, on stores that are reached by TLS alone: the contract suite from inside its network, as `helm test`
// runs it; the jobs; the services as they run and stop.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoPartners, demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { imageOf } from '@course-exchange/testcontainers/images';
import { type Ending, type Environment, runToEnd } from '@course-exchange/testcontainers/product-container';
import type { Stores } from '@course-exchange/testcontainers/stores';
import { identityMigrations, serviceNames } from '@course-exchange/testcontainers/system';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthority, type Issued } from '../rpc/certificate-authority.ts';
import { ownStopwatch } from '../support/own-time.ts';
import { end, query, type System, startPostgres, startRedis, startStores, startSystem } from './system.ts';

const issuer = 'https://exchange.test';
const redisAccount = { user: 'identity', password: 'test-redis-password' };
const redisTls = { REDIS_TLS_CA_FILE: '/given/ca.crt' };
/** What the containers have as /given. */
const given = mkdtempSync(join(tmpdir(), 'course-exchange-system-'));
let stores: Stores;
let system: System;

beforeAll(async () => {
  // For the account of the images.
  chmodSync(given, 0o755);
  const authority = await createAuthority('Stores');
  const [forPostgres, forRedis] = [await authority.issue(['postgres']), await authority.issue(['redis'])];
  writeFileSync(join(given, 'ca.crt'), authority.certificate);
  writeFileSync(join(given, 'seed.json'), JSON.stringify(narrowSeed));
  const files = { '/tls/tls.crt': forRedis.certificate, '/tls/tls.key': forRedis.key };
  stores = await startStores({
    postgres: (network) => startPostgres(network, { firstStart: encryptedOnly(forPostgres) }),
    redis: (network) => startRedis(network, { words: encryptedRedis, files }),
    given,
    postgresQuery: '?sslmode=verify-full&sslrootcert=/given/ca.crt',
    redisUrl: `rediss://${redisAccount.user}:${redisAccount.password}@redis:6379`,
  });
  const known = { ISSUER: issuer };
  system = await startSystem(stores, {
    gateway: known,
    identity: { ...known, ...redisTls },
    'design-catalog': known,
  });
});
afterAll(() => rmSync(given, { recursive: true }));

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
  ...'--port 0 --tls-port 6379 --tls-auth-clients no --tls-ca-cert-file /tls/tls.crt'.split(' '),
  ...'--tls-cert-file /tls/tls.crt --tls-key-file /tls/tls.key --user default off'.split(' '),
  ...`--user ${redisAccount.user} on >${redisAccount.password} ~* +@all`.split(' '),
];

/** One partner, and one user with a name that is not theirs; no word about either. */
const { about: _, ...user } = demoUsers.typical;
const narrowSeed = {
  partners: [demoPartners('http://127.0.0.1')[1]],
  users: [{ ...user, name: 'Somebody Else' }],
};

const programs = [...serviceNames, 'demo-partner'] as const;

test.each(programs)('%s runs read-only, as a person of no rights, within 300 MiB', async (name) => {
  const { exitCode, output } = await system.containers[name].exec(['/usr/local/bin/node', '-e', lookAround]);
  expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
  const { uid, writable, residentMiB } = JSON.parse(output);
  console.log(`figure: ${name} ${residentMiB} MiB resident`);
  expect({ writable, isRoot: uid === 0 }).toEqual({ writable: false, isRoot: false });
  expect(residentMiB).toBeLessThanOrEqual(300);
});

test('every connection to Postgres is encrypted', async () => {
  const rows = await query(
    stores.containers.postgres,
    `select usename, bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid)
     where usename like any (array['identity%', 'catalog%']) group by 1`,
  );
  expect(rows).toEqual(expect.arrayContaining(['catalog_ro|t', 'identity_rw|t']));
  expect(rows.filter((row) => !row.endsWith('|t'))).toEqual([]);
});

describe('the image of the contract suite', () => {
  const judge = (environment: Environment) =>
    runToEnd(imageOf('contract-tests'), {
      environment: { CONTRACT_ISSUER: issuer, CONTRACT_BASE_URL: 'http://gateway:8080', ...environment },
      network: system.network,
      scratch: true,
      given,
    });

  /** The figures of the line on clauses. */
  function countOf({ output }: Ending): Readonly<Record<'all' | 'proven' | 'skipped' | 'failed', number>> {
    const line = /(?<all>\d+) clauses: (?<proven>\d+) proven, (?<skipped>\d+) skipped, (?<failed>\d+) failed/;
    const { all, proven, skipped, failed } = line.exec(output)?.groups ?? {};
    expect(all, output).toBeDefined();
    return { all: Number(all), proven: Number(proven), skipped: Number(skipped), failed: Number(failed) };
  }

  test('all clauses that need no store are proven with the demo data', async () => {
    const CONTRACT_DEMO_PARTNER_URL = `http://127.0.0.1:${system.containers['demo-partner'].getMappedPort(9000)}`;
    const ending = await judge({ CONTRACT_DEMO: 'true', CONTRACT_DEMO_PARTNER_URL });
    expect(ending, ending.output).toMatchObject({ code: 0 });
    const { all, proven, skipped, failed } = countOf(ending);
    console.log(`figure: ${proven} of ${all} clauses proven with the demo data, ${skipped} skipped`);
    expect({ failed, sum: proven + skipped }).toEqual({ failed: 0, sum: all });
    expect(proven).toBeGreaterThanOrEqual(217);
    expect(ending.output.trim().split('\n').length, 'clauses, tests skipped, the count').toBe(3);
  });

  test('one partner and one user are enough, and a clause that does not hold fails the run and is named', async () => {
    const ending = await judge({ CONTRACT_SEED: '/given/seed.json' });
    expect(ending.code).toBe(1);
    const { proven, failed } = countOf(ending);
    console.log(`figure: ${proven} clauses proven with one partner and one user, ${failed} failed`);
    expect(proven).toBeGreaterThanOrEqual(170);
    expect(failed).toBeGreaterThan(0);
    const named = ending.output.split('\n').filter((line) => line.startsWith('not proven '));
    expect(named.filter((line) => !/^not proven (S2\.token\.1|.*claims)/.test(line))).toEqual([]);
    expect(ending.output).toMatch(/^.*FAILED .*: ID token: exactly the claims/m);
  });

  test('another issuer is one sentence', async () => {
    const { code, output } = await judge({ CONTRACT_DEMO: 'true', CONTRACT_ISSUER: 'https://other.test' });
    expect(code).toBe(1);
    expect(output).toContain(`http://gateway:8080 is the issuer ${issuer}, expected https://other.test.`);
  });
});

describe.concurrent('the image of the migrations', () => {
  const run = (command: readonly string[], environment: Environment) =>
    runToEnd(imageOf('migrations'), { command, network: stores.network, given, environment });
  const MIGRATOR_POSTGRES_URL = () => stores.postgresUrl('identity_migrator');

  test('--check finds nothing in production', async () => {
    const { code, output } = await run([identityMigrations, '--check'], {
      ...{ ...redisTls, ISSUER: issuer, ENVIRONMENT: 'production' },
      KEY_ENCRYPTION_KEY: stores.keyEncryptionKey,
      MIGRATOR_POSTGRES_URL: MIGRATOR_POSTGRES_URL(),
      POSTGRES_URL: stores.postgresUrl('identity_rw'),
      OPERATOR_POSTGRES_URL: stores.postgresUrl('identity_operator'),
      REDIS_URL: stores.redisUrl,
    });
    expect(code, output).toBe(0);
  });

  test('the seed refuses production', async () => {
    const production = { ENVIRONMENT: 'production', MIGRATOR_POSTGRES_URL: MIGRATOR_POSTGRES_URL() };
    expect(await run(['/app/seed.js'], production)).toMatchObject({ code: 1 });
  });
});

test.each(programs)('%s stops on SIGTERM within its time, with code 0', async (name) => {
  const elapsed = ownStopwatch();
  expect(await end(system.containers[name], 'SIGTERM')).toMatchObject({ StatusCode: 0 });
  const spent = elapsed();
  console.log(`figure: ${name} stopped after ${spent.toFixed(0)} ms`);
  expect(spent).toBeLessThan(12_000);
});

const lookAround = `
  const { readFileSync, writeFileSync } = require('node:fs');
  let writable = true;
  try { writeFileSync('/app/probe', ''); } catch { writable = false; }
  const status = readFileSync('/proc/1/status', 'utf8');
  const number = (name) => Number(new RegExp(name + ':\\\\s+(\\\\d+)').exec(status)[1]);
  console.log(JSON.stringify({ uid: number('Uid'), writable, residentMiB: Math.round(number('VmRSS') / 1024) }));`;
