import { expect, onTestFinished, test } from 'vitest';
import { ownStopwatch } from '../../../../test/support/own-time.ts';
import { type Health, serveHealth } from './health.ts';

async function probe(health: Health, path: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`http://127.0.0.1:${health.port}${path}`);
  return { status: response.status, body: await response.json() };
}

const answer = (status: number, phase: string, checks: Readonly<Record<string, string>> = {}) => ({
  status,
  body: { phase, checks },
});

type Checks = Parameters<typeof serveHealth>[0]['checks'];

async function serve(checks: Checks, more: Partial<Parameters<typeof serveHealth>[0]> = {}): Promise<Health> {
  const health = await serveHealth({ host: '127.0.0.1', port: 0, checks, ...more });
  onTestFinished(() => health.close());
  return health;
}

test('deep health tells starting, running, a store that is gone, and stopping apart', async () => {
  let redis: string | undefined;
  const health = await serve({ redis: async () => redis, postgres: async () => undefined });
  expect(await probe(health, '/healthz')).toEqual(answer(503, 'starting'));
  health.started();
  expect(await probe(health, '/healthz')).toEqual(answer(200, 'running'));
  redis = 'Redis does not answer';
  expect(await probe(health, '/healthz')).toEqual(answer(503, 'running', { redis }));
  health.stopping();
  expect(await probe(health, '/healthz')).toEqual(answer(503, 'stopping'));
});

test('metrics are answered whole, and are 404 if the process makes none', async () => {
  const withMetrics = async (metricsText?: () => Promise<string>) => {
    const health = await serve({}, { metricsText });
    const answer = await fetch(`http://127.0.0.1:${health.port}/metrics`);
    return { status: answer.status, text: await answer.text(), type: answer.headers.get('content-type') };
  };
  expect(await withMetrics(async () => 'up 1\n')).toEqual({
    status: 200,
    text: 'up 1\n',
    type: 'text/plain; version=0.0.4; charset=utf-8',
  });
  expect(await withMetrics()).toMatchObject({ status: 404 });
  expect(await withMetrics(() => Promise.reject(new Error('away')))).toMatchObject({ status: 503, text: '' });
});

test('liveness does not ask the stores', async () => {
  const health = await serve({ redis: () => Promise.reject(new Error('away')) });
  health.started();
  expect((await probe(health, '/livez')).status).toBe(200);
  expect(await probe(health, '/healthz')).toEqual(answer(503, 'running', { redis: 'Check failed' }));
});

test('stores that hang are named before a probe of one second gives up', async () => {
  const hanging = () => new Promise<undefined>(() => {});
  const health = await serve(
    { postgres: hanging, redis: hanging, keySet: async () => undefined },
    { warnings: { feed: hanging } },
  );
  health.started();
  expect(await probe(health, '/healthz')).toEqual({
    status: 503,
    body: {
      phase: 'running',
      checks: { postgres: 'Postgres does not answer in time', redis: 'Redis does not answer in time' },
      warnings: { feed: 'Feed does not answer in time' },
    },
  });
  // A busy machine may be late once.
  const took = async () => {
    const elapsed = ownStopwatch();
    await probe(health, '/healthz');
    return elapsed();
  };
  expect(Math.min(await took(), await took())).toBeLessThan(950);
});

test('readiness waits for what is needed once, then leaves the stores alone and looks at the own state', async () => {
  const wrong: Record<string, string | undefined> = { postgres: 'away', keys: 'not read', redis: 'away' };
  const asked: string[] = [];
  const check = (name: string) => async () => {
    asked.push(name);
    return wrong[name];
  };
  const checks = { postgres: check('postgres'), keys: check('keys'), redis: check('redis') };
  const health = await serve(checks, { startupGate: ['postgres'], readinessGate: ['keys'] });
  expect(await probe(health, '/readyz')).toEqual(answer(503, 'starting'));
  health.started();
  const failing = { postgres: 'away', keys: 'not read' };
  expect(await probe(health, '/readyz')).toEqual(answer(503, 'running', failing));
  wrong.keys = undefined;
  expect((await probe(health, '/readyz')).status).toBe(503);
  wrong.postgres = undefined;
  expect(await probe(health, '/readyz')).toEqual(answer(200, 'running'));
  wrong.postgres = 'away';
  asked.length = 0;
  expect((await probe(health, '/readyz')).status).toBe(200);
  expect(asked).toEqual(['keys']);
  const away = { postgres: 'away', redis: 'away' };
  expect(await probe(health, '/healthz')).toEqual(answer(503, 'running', away));
  wrong.keys = 'cannot sign';
  expect(await probe(health, '/readyz')).toEqual(answer(503, 'running', { keys: 'cannot sign' }));
  wrong.keys = undefined;
  expect((await probe(health, '/readyz')).status).toBe(200);
  health.stopping();
  expect((await probe(health, '/readyz')).status).toBe(503);
});
