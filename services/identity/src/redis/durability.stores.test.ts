// A command whose answer is lost, and what /healthz says of a Redis that answers and yet takes no write, as the ACL user of
// the documents; /readyz stays.
import { serveHealth } from '@course-exchange/runtime/process/health';
import { Redis } from 'ioredis';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  choosePorts,
  documentedUser,
  durableAt,
  openServers,
  openStore,
  until,
} from '../../../../test/stores/redis-servers.ts';
import { openLink } from '../../../../test/support/tcp-link.ts';
import { redisMemoryWarning, redisProblem } from '../readiness.ts';
import { infoField } from './durability.ts';

const servers = await openServers();
afterAll(servers.stop);
const ports = await choosePorts(['redis']);
const { admin } = await servers.start({
  name: 'redis',
  lines: [...durableAt(ports.redis), `user ${documentedUser('first').join(' ')}`],
  look: { port: ports.redis, password: '' },
});
const store = await openStore({ REDIS_URL: `redis://identity:first@127.0.0.1:${ports.redis}` });
afterAll(store.close);
const health = await serveHealth({
  host: '127.0.0.1',
  port: 0,
  checks: { redis: () => redisProblem(store) },
  warnings: { redisMemory: () => redisMemoryWarning(store) },
});
afterAll(health.close);
health.started();

async function probe(path: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`http://127.0.0.1:${health.port}${path}`);
  return { status: response.status, body: await response.json() };
}

/** What it says once the machine leaves the checks their 700 ms. */
const told = (path: string) => expect.poll(() => probe(path));

/** Sets `maxmemory` so that what is there now is `share` of it. */
async function fill(share: number): Promise<void> {
  const used = Number(infoField(await admin.info('memory'), 'used_memory'));
  await admin.config('SET', 'maxmemory', Math.round(used / share));
}

beforeEach(async () => {
  await admin.config('SET', 'maxmemory', 0);
  // A connection that read READONLY is left for a new one.
  await until('a write', async () => (await redisProblem(store)) === undefined);
});

const well = { phase: 'running', checks: {} };
const refused = (code: string) => ({
  status: 503,
  body: { phase: 'running', checks: { redis: `Redis refuses writes: ${code}` } },
});

test('a Redis that takes writes is well, and keeps the probe for ten seconds', async () => {
  await told('/healthz').toEqual({ status: 200, body: well });
  expect(await admin.keys('*')).toEqual(['health:{0}']);
  const left = await admin.ttl('health:{0}');
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(10);
});

test('80 % of maxmemory is a warning, and no fault', async () => {
  await fill(0.7);
  await told('/healthz').toEqual({ status: 200, body: well });
  await fill(0.9);
  const warnings = {
    redisMemory: expect.stringMatching(
      /^Redis uses [89]\d % of maxmemory: raise it, or writes will be refused$/,
    ),
  };
  await told('/healthz').toEqual({ status: 200, body: { ...well, warnings } });
});

test('a full Redis is unwell, and readiness stays', async () => {
  await fill(2);
  await told('/healthz').toMatchObject(refused('OOM'));
  await told('/readyz').toEqual({ status: 200, body: well });
});

test.each([
  ['has become a replica', 'READONLY', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  [
    'misses its replicas',
    'NOREPLICAS',
    ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
    ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
  ],
  [
    'gives its user no right to the key of the probe',
    'NOPERM',
    ['ACL', 'SETUSER', 'identity', 'resetkeys'],
    ['ACL', 'SETUSER', ...documentedUser('first')],
  ],
])('so is one that %s', async (_, code, [harm = '', ...harms], [mend = '', ...mends]) => {
  await admin.call(harm, ...harms);
  onTestFinished(async () => void (await admin.call(mend, ...mends)));
  await told('/healthz').toEqual(refused(code));
});

test('a command whose answer was lost is not sent again, as the driver by itself would', async () => {
  let losing = true;
  const link = await openLink(ports.redis, (client, upstream) => {
    let lost = false;
    client.on('data', (bytes) => {
      lost ||= losing && bytes.includes('counted');
      if (lost) losing = false;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => (lost ? client.destroy() : client.write(bytes)));
  });
  onTestFinished(link.close);
  const url = `redis://identity:first@127.0.0.1:${link.port}`;
  const increment = "-- counted\nreturn redis.call('INCR', KEYS[1])";
  const careless = new Redis(url);
  onTestFinished(() => careless.disconnect());
  expect(await careless.eval(increment, 1, 'session:twice')).toBe(2);
  losing = true;
  const safe = await openStore({ REDIS_URL: url }, undefined, 20_000);
  onTestFinished(safe.close);
  const answer = safe.run('increment', 'session:once', (redis) => redis.eval(increment, 1, 'session:once'));
  await expect(answer).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await until('a connection', async () => (await safe.run('look', '', (redis) => redis.ping())) === 'PONG');
  expect(await admin.get('session:once')).toBe('1');
});
