// Which pods are sent traffic while stores are away: those that have once had what they need stay, and those that never
// had it wait for it.
import { withClient } from '@course-exchange/local-stack/postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { send } from '../support/http.ts';
import { type PartName, type System, startSystem } from '../support/system.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
}, 120_000);
afterAll(() => system?.stop());

type Service = 'identity' | 'design-catalog';
const services: readonly Service[] = ['identity', 'design-catalog'];

async function probe(service: Service, path: string): Promise<{ status: number; sentences: string[] }> {
  const address = system.stack.addresses?.[`${service} health`];
  try {
    const response = await fetch(`${address}${path}`, { signal: AbortSignal.timeout(950) });
    const { checks = {} } = (await response.json()) as { checks?: Record<string, string> };
    return { status: response.status, sentences: Object.values(checks) };
  } catch {
    return { status: 0, sentences: [] };
  }
}

const ready = { status: 200, sentences: [] };

/** What it answers, asked until it does: on a busy machine an answer may miss the time of one probe. */
async function answerOf(service: Service, path: string): ReturnType<typeof probe> {
  let answer = await probe(service, path);
  for (let more = 0; answer.status === 0 && more < 10; more += 1) answer = await probe(service, path);
  return answer;
}

/** Until `/healthz` says so: reconnecting takes a moment. */
async function expectWhole(service: Service): Promise<void> {
  await expect.poll(() => probe(service, '/healthz'), { interval: 100 }).toEqual(ready);
}

async function expectDiscoveryServed(): Promise<void> {
  const { issuer } = system.stack;
  const discovery = await send(`${issuer}/.well-known/openid-configuration`);
  expect(discovery.status).toBe(200);
  expect((await send(discovery.json().jwks_uri as string)).status).toBe(200);
}

test.each(['paused', 'killed'] as const)(
  'with Redis and Postgres %s the services stay ready, and their health names what is away [R14.2]',
  async (how) => {
    const stores: readonly PartName[] = ['redis', 'postgres'];
    for (const store of stores) how === 'paused' ? system.pause(store) : await system.kill(store);
    try {
      await expect
        .poll(() => probe('identity', '/healthz'))
        .toEqual({
          status: 503,
          sentences: [
            expect.stringMatching(/^Redis does not answer/),
            expect.stringMatching(/^Postgres does not answer/),
          ],
        });
      await expect
        .poll(() => probe('design-catalog', '/healthz'))
        .toEqual({ status: 503, sentences: [expect.stringMatching(/^Postgres does not answer/)] });
      for (const service of services) expect(await answerOf(service, '/readyz')).toEqual(ready);
      await expectDiscoveryServed();
    } finally {
      for (const store of stores) how === 'paused' ? system.resume(store) : await system.start(store);
    }
    for (const service of services) await expectWhole(service);
  },
);

test('a service that starts while Postgres is away is not ready, and becomes so when it is back', async () => {
  await system.kill('postgres');
  for (const service of services) await system.kill(service);
  const starting = services.map((service) => system.start(service));
  try {
    await expect
      .poll(() => probe('identity', '/readyz'))
      .toEqual({ status: 503, sentences: ['Postgres does not answer', 'Signing keys were not read yet'] });
    await expect
      .poll(() => probe('design-catalog', '/readyz'))
      .toEqual({
        status: 503,
        sentences: ['Postgres does not answer', 'The key set was not yet fetched from identity'],
      });
    for (const service of services) expect((await answerOf(service, '/livez')).status).toBe(200);
  } finally {
    await system.start('postgres');
    await Promise.all(starting);
  }
  for (const service of services) expect(await answerOf(service, '/readyz')).toEqual(ready);
});

test('Redis does not count: a service that starts without it is ready', async () => {
  await system.kill('redis');
  await system.kill('identity');
  const starting = system.start('identity');
  try {
    await expect.poll(() => probe('identity', '/readyz')).toEqual(ready);
    expect((await answerOf('identity', '/healthz')).sentences).toEqual([
      expect.stringMatching(/^Redis does not answer/),
    ]);
  } finally {
    await system.start('redis');
    await starting;
  }
});

test.each([
  ['identity', 'identity', /^The identity schema has version \d+, this service needs version \d+: run/],
  ['design-catalog', 'catalog', /^The catalog schema has version \d+, this service needs version \d+: run/],
] as const)('%s on an older schema is never ready, until it is migrated', async (service, schema, says) => {
  const sql = (text: string) =>
    withClient(system.stack.postgres ?? '', async (client) => (await client.query(text)).rows);
  const [newest] = await sql(`delete from ${schema}.schema_migrations
    where version = (select max(version) from ${schema}.schema_migrations) returning version, sha256`);
  await system.kill(service);
  const starting = system.start(service);
  try {
    const older = { status: 503, sentences: [expect.stringMatching(says)] };
    await expect.poll(() => probe(service, '/readyz')).toEqual(older);
    for (const end = Date.now() + 2_000; Date.now() < end; )
      expect(await answerOf(service, '/readyz')).toEqual(older);
  } finally {
    await sql(
      `insert into ${schema}.schema_migrations (version, sha256) values (${newest?.version}, '${newest?.sha256}')`,
    );
    await starting;
  }
  expect(await answerOf(service, '/readyz')).toEqual(ready);
});
