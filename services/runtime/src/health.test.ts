import { afterEach, expect, test } from 'vitest';
import { type Health, serveHealth } from './health.ts';

const open: Health[] = [];
afterEach(async () => {
  for (const health of open.splice(0)) await health.close();
});

async function probe(health: Health, path: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`http://127.0.0.1:${health.port}${path}`);
  return { status: response.status, body: await response.json() };
}

type Checks = Parameters<typeof serveHealth>[0]['checks'];

async function serve(checks: Checks, warnings: Checks = {}): Promise<Health> {
  const health = await serveHealth({ host: '127.0.0.1', port: 0, checks, warnings });
  open.push(health);
  return health;
}

test('readiness tells starting, running, a store that is gone, and stopping apart', async () => {
  let redis: string | undefined;
  const health = await serve({ redis: async () => redis, postgres: async () => undefined });
  expect(await probe(health, '/readyz')).toEqual({ status: 503, body: { phase: 'starting', checks: {} } });
  health.started();
  expect(await probe(health, '/readyz')).toEqual({ status: 200, body: { phase: 'running', checks: {} } });
  redis = 'Redis does not answer';
  expect(await probe(health, '/readyz')).toEqual({
    status: 503,
    body: { phase: 'running', checks: { redis: 'Redis does not answer' } },
  });
  health.stopping();
  expect(await probe(health, '/readyz')).toEqual({ status: 503, body: { phase: 'stopping', checks: {} } });
});

test('liveness does not ask the stores', async () => {
  const health = await serve({ redis: () => Promise.reject(new Error('away')) });
  health.started();
  expect((await probe(health, '/livez')).status).toBe(200);
  expect(await probe(health, '/readyz')).toMatchObject({
    status: 503,
    body: { checks: { redis: 'Check failed' } },
  });
  expect((await probe(health, '/metrics')).status).toBe(404);
});

test('stores that hang are named before a probe of one second gives up', async () => {
  const hanging = () => new Promise<undefined>(() => {});
  const health = await serve(
    { postgres: hanging, redis: hanging, keySet: async () => undefined },
    { feed: hanging },
  );
  health.started();
  const asked = performance.now();
  expect(await probe(health, '/readyz')).toEqual({
    status: 503,
    body: {
      phase: 'running',
      checks: { postgres: 'Postgres does not answer in time', redis: 'Redis does not answer in time' },
      warnings: { feed: 'Feed does not answer in time' },
    },
  });
  expect(performance.now() - asked).toBeLessThan(950);
});
