// Which pods are sent traffic while stores are away: those that have once had what they need stay, and those that never
// had it wait for it.
import { withClient } from '@course-exchange/local-stack/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type System, startSystem } from '../support/system.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(() => system?.stop());

const services = ['identity', 'design-catalog'] as const;
type Service = (typeof services)[number];

async function probe(service: Service, path: string): Promise<{ status: number; sentences: unknown[] }> {
  const url = `${system.stack.addresses?.[`${service} health`]}${path}`;
  const response = await fetch(url, { signal: AbortSignal.timeout(950) });
  const { checks = {} } = (await response.json()) as { checks?: Record<string, string> };
  return { status: response.status, sentences: Object.values(checks) };
}

/** Polled: on a busy machine an answer may miss the time of one probe. */
const expectAnswer = (service: Service, path: string, status: number, ...sentences: readonly unknown[]) =>
  expect.poll(() => probe(service, path), { interval: 100 }).toEqual({ status, sentences });
const expectAll = (path: string, status: number) =>
  Promise.all(services.map((service) => expectAnswer(service, path, status)));

const noRedis = expect.stringMatching(/^Redis does not answer/);
const noPostgres = expect.stringMatching(/^Postgres does not answer/);

test.each(['paused', 'killed'] as const)(
  'the services stay ready with Redis and Postgres %s, and their health names what is away',
  async (how) => {
    const stores = ['redis', 'postgres'] as const;
    for (const store of stores) how === 'paused' ? system.pause(store) : await system.kill(store);
    try {
      await expectAnswer('identity', '/healthz', 503, noRedis, noPostgres);
      await expectAnswer('design-catalog', '/healthz', 503, noPostgres);
      await expectAll('/readyz', 200);
    } finally {
      for (const store of stores) how === 'paused' ? system.resume(store) : await system.start(store);
    }
    await expectAll('/healthz', 200);
  },
);

test('a service that starts while Postgres is away is not ready, and becomes so when it is back', async () => {
  for (const part of ['postgres', ...services] as const) await system.kill(part);
  const starting = services.map((service) => system.start(service));
  try {
    await expectAnswer('identity', '/readyz', 503, noPostgres, 'Signing keys were not read yet');
    const noKeys = 'The key set was not yet fetched from identity';
    await expectAnswer('design-catalog', '/readyz', 503, noPostgres, noKeys);
    await expectAll('/livez', 200);
  } finally {
    await system.start('postgres');
    await Promise.all(starting);
  }
  await expectAll('/readyz', 200);
});

test('Redis does not count: a service that starts without it is ready', async () => {
  for (const part of ['redis', 'identity'] as const) await system.kill(part);
  const starting = system.start('identity');
  try {
    await expectAnswer('identity', '/readyz', 200);
    await expectAnswer('identity', '/healthz', 503, noRedis);
  } finally {
    await system.start('redis');
    await starting;
  }
});

test.each([
  ['identity', 'identity'],
  ['design-catalog', 'catalog'],
] as const)('%s on an older schema is never ready, until it is migrated', async (service, schema) => {
  const sql = (text: string) =>
    withClient(system.stack.postgres ?? '', async (client) => (await client.query(text)).rows);
  const migrations = `${schema}.schema_migrations`;
  const [newest] = await sql(`delete from ${migrations}
    where version = (select max(version) from ${migrations}) returning version, sha256`);
  await system.kill(service);
  const starting = system.start(service);
  try {
    const needed = /^The \w+ schema has version \d+, this service needs version \d+: run/;
    await expectAnswer(service, '/readyz', 503, expect.stringMatching(needed));
  } finally {
    await sql(`insert into ${migrations} (version, sha256) values (${newest?.version}, '${newest?.sha256}')`);
    await starting;
  }
  await expectAnswer(service, '/readyz', 200);
});
