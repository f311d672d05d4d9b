// Records of refusals on their way to Postgres, in it, and out of it again (R34.1, R34.3).
import type { Database, Queries } from '@course-exchange/runtime/postgres/pool';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/process/request-context';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { beforeEach, expect, test } from 'vitest';
import { useIdentityDatabase } from '../../../../test/stores/postgres.ts';
import type { ClientId } from '../ids.ts';
import type { RefusalRecord } from './reasons.ts';
import { createRefusalQueue, findRefusals } from './records.ts';
import { cleanRefusals, insertRefusals } from './refusal-table.ts';
import { createRefusalHandlers } from './rpc.ts';

carryContextAcrossAwaits();
const { metricsText = expect.fail } = await startTelemetry('identity', {
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_METRICS_EXPORTER: 'prometheus',
  OTEL_TRACES_SAMPLER_ARG: 1,
});
const logger = createLogger('identity', 'error', () => {});
const { database, operator, sql } = await useIdentityDatabase();
const write = (records: readonly RefusalRecord[]) => insertRefusals(database, records);
beforeEach(async () => void (await sql('delete from refusals')));

const unfiltered = {
  requestId: undefined,
  clientId: undefined,
  code: undefined,
  since: undefined,
  until: undefined,
};
const firstPage = { after: undefined, limit: 10 };
type Filter = Partial<Parameters<typeof findRefusals>[1]>;
async function recordsOf(filter: Filter) {
  const page = { after: undefined, limit: 1_000 };
  return (await findRefusals({ database: operator }, { ...unfiltered, ...filter }, page)).refusals;
}

const lost = async (reason: string) => {
  const counted = new RegExp(
    `^course_exchange_refusal_records_lost_total\\{reason="${reason}"\\} (\\d+)$`,
    'm',
  );
  return Number(counted.exec(await metricsText())?.[1]);
};

type Refused = Parameters<ReturnType<typeof createRefusalQueue>['record']>[0];
const refused: Refused = {
  ...{ requestId: 'request-1', endpoint: 'token', code: 'invalid_grant', clientAuthenticated: true },
  ...{ reason: 'refresh_token_reused', user: undefined, family: undefined, earlier: undefined },
  ...{ clientId: undefined, claimedClientId: undefined, network: undefined },
} as const;
const strange: Refused = { ...refused, clientAuthenticated: false };

/** A queue with a clock, whose records go nowhere until `write` says so. */
function openQueue(write: (records: readonly RefusalRecord[]) => Promise<void>) {
  const clock = { now: 0 };
  const { record, flush } = createRefusalQueue({ write, now: () => clock.now, logger });
  const send = (count: number, one: Refused) => {
    for (let n = 0; n < count; n += 1) record({ ...one, network: `10.${n >> 8}.${n % 256}.0/24` });
  };
  return { clock, send, flush };
}

test('of a client that authenticated 1,000 are kept in a minute, of one only named 100, else 500', async () => {
  const kept = new Map<string, number>();
  const { clock, send, flush } = openQueue(async (records) => {
    for (const { clientId, clientAuthenticated: proven } of records)
      kept.set(`${clientId} ${proven}`, (kept.get(`${clientId} ${proven}`) ?? 0) + 1);
  });
  const before = await lost('quota');
  send(400, { ...strange, clientId: undefined, claimedClientId: 'three' });
  send(1_100, { ...strange, clientId: undefined });
  for (const clientId of ['one', 'two'])
    for (const refusal of [strange, refused]) send(1_500, { ...refusal, clientId });
  await flush();
  const each = { 'one true': 1_000, 'one false': 1_100, 'two true': 1_000, 'two false': 1_100 };
  expect(Object.fromEntries(kept)).toEqual({ ...each, 'three false': 400, 'undefined false': 100 });
  expect((await lost('quota')) - before).toBe(7_500 - 4_700);
  // A caller with an old access token leaves its client the quota of the secret, a stranger that of both.
  send(1_500, { ...strange, clientId: 'three' });
  send(1_500, { ...refused, clientId: 'three', endpoint: 'userinfo' });
  send(1, { ...refused, clientId: 'three' });
  await flush();
  expect(kept.get('three true')).toBe(101);
  clock.now = 60_000;
  send(1, { ...refused, clientId: 'one' });
  await flush();
  expect(kept.get('one true')).toBe(1_001);
});

test('strangers leave the queue to clients while Postgres hangs, and what is too much is lost', async () => {
  const { promise: hangs, resolve: goOn } = Promise.withResolvers<void>();
  const written: RefusalRecord[] = [];
  const { clock, send, flush } = openQueue(async (records) => {
    await hangs;
    written.push(...records);
  });
  const before = await lost('queue');
  for (let minute = 0; minute < 20; minute += 1) {
    clock.now = minute * 60_000;
    send(500, { ...strange, clientId: undefined });
  }
  for (let n = 0; n < 20; n += 1) send(1_000, { ...refused, clientId: `client-${n}` });
  goOn();
  await flush();
  const strangers = written.filter(({ clientAuthenticated }) => !clientAuthenticated).length;
  expect([strangers, written.length - strangers]).toEqual([4_000, 8_000]);
  expect((await lost('queue')) - before).toBe(30_000 - 12_000);
});

test('a record is written though the time of its request is over', async () => {
  const { send, flush } = openQueue(write);
  context.with(withCall(ROOT_CONTEXT, 'request-2', Date.now() - 1), () => send(1, refused));
  await flush();
  expect(await recordsOf({})).toHaveLength(1);
});

test('a batch that Postgres does not take is lost and counted; the next one is written', async () => {
  const batches: number[] = [];
  const { send, flush } = openQueue(async (records) => {
    batches.push(records.length);
    if (batches.length === 1) throw new Error('away');
  });
  const before = await lost('postgres');
  send(700, { ...refused, clientId: 'one' });
  await flush();
  expect(batches).toEqual([500, 200]);
  expect((await lost('postgres')) - before).toBe(500);
});

const recordAt = (at: number, over: Partial<RefusalRecord> = {}): RefusalRecord => {
  const { claimedClientId: _, ...one } = refused;
  return { ...one, clientId: 'acme' as ClientId, at, ...over };
};
const most = { clients: 100, strangers: 50 };
const day = 24 * 60 * 60 * 1_000;

test('rows older than seven days go, then the oldest beyond the maximum, of strangers and of clients apart [R34.1]', async () => {
  const now = Date.now();
  await write([recordAt(now - 7 * day - 60_000), recordAt(now - 7 * day + 60_000)]);
  expect(await cleanRefusals(database)).toBe(1);
  await write(Array.from({ length: 120 }, (_, n) => recordAt(now + n)));
  await write(Array.from({ length: 200 }, (_, n) => recordAt(now + n, { clientAuthenticated: false })));
  expect(await cleanRefusals(database, most)).toBe(21 + 150);
  const left = await recordsOf({});
  expect(left).toHaveLength(150);
  const oldest = (of: boolean) =>
    Math.min(...left.filter(({ clientAuthenticated }) => clientAuthenticated === of).map(({ at }) => at));
  expect([oldest(true), oldest(false)]).toEqual([now + 20, now + 150]);
});

test('several processes clean and write at once; each row goes once, and no more than ought to', async () => {
  const now = Date.now();
  const fill = () => write(Array.from({ length: 6_000 }, (_, n) => recordAt(now - (n % 2) * 8 * day)));
  await Promise.all([fill(), fill()]);
  const cleaning = Array.from({ length: 8 }, () => cleanRefusals(database, { clients: 6_100, strangers: 1 }));
  const [gone] = await Promise.all([Promise.all(cleaning), write([recordAt(now)])]);
  const after = await cleanRefusals(database, { clients: 6_100, strangers: 1 });
  const [{ count } = { count: 0 }] = await sql('select count(*)::integer as count from refusals');
  expect(gone.reduce((sum, one) => sum + one, after)).toBe(12_001 - Number(count));
  expect(Number(count)).toBeLessThanOrEqual(6_001);
  expect(await recordsOf({ until: now - 7 * day })).toEqual([]);
});

test('the service cannot read what it wrote, and no role changes it', async () => {
  const run = (by: typeof database, text: string) => by.query({ name: '', text }, []);
  const denied = { code: '42501' };
  await expect(run(database, 'select reason from refusals')).rejects.toMatchObject(denied);
  await expect(run(database, 'update refusals set at = now()')).rejects.toMatchObject(denied);
  await expect(run(operator, 'delete from refusals')).rejects.toMatchObject(denied);
  await expect(run(operator, 'update refusals set at = now()')).rejects.toMatchObject(denied);
});

const handlers = createRefusalHandlers({ database: operator });
type Asked = Parameters<typeof handlers.listRefusals>[0];
const nothing = { requestId: '', clientId: '', code: '', pageSize: 0, pageToken: '' };
const list = (asked: Partial<Asked>) => handlers.listRefusals({ ...nothing, ...asked } as Asked, {} as never);

test('operators list records by request id, client, code and time, newest first, in pages', async () => {
  const now = 1_800_000_000_000;
  const ofUserinfo = { endpoint: 'userinfo', reason: 'subject' } as const;
  const earlier = { requestId: 'request-0', at: now - 4_200, revoked: 'code_replayed' } as const;
  // Equal times, across a page's end.
  await write(
    Array.from({ length: 7 }, (_, n) => recordAt(now + Math.floor(n / 4), { requestId: `request-${n}` })),
  );
  await write([
    recordAt(now + 5, { clientId: undefined, clientAuthenticated: false, code: 'invalid_client' }),
    recordAt(now + 9, { requestId: 'request-9', user: 'u', family: 'f', earlier, ...ofUserinfo }),
  ]);
  const seen: string[] = [];
  let pageToken = '';
  do {
    const page = await list({ clientId: 'acme', pageSize: 3, pageToken });
    seen.push(...(page.refusals ?? []).map(({ requestId = '' }) => requestId));
    pageToken = page.nextPageToken ?? '';
  } while (pageToken !== '');
  expect(seen).toEqual([9, 6, 5, 4, 3, 2, 1, 0].map((n) => `request-${n}`));
  const time = (milliseconds: number) => ({
    seconds: BigInt(Math.floor(milliseconds / 1_000)),
    nanos: (milliseconds % 1_000) * 1_000_000,
  });
  const { refusals: [whole] = [] } = await list({ requestId: 'request-9' });
  expect(whole).toMatchObject({
    ...{
      requestId: 'request-9',
      endpoint: 3,
      clientId: 'acme',
      clientAuthenticated: true,
      user: 'u',
      family: 'f',
    },
    ...{ code: 'invalid_grant', reason: 'subject', at: time(now + 9) },
    earlier: { requestId: 'request-0', at: time(now - 4_200) },
    sentence: expect.stringContaining('disabled or deleted 4.2 s earlier'),
  });
  const [stored] = await recordsOf({ requestId: 'request-9' });
  expect(stored?.earlier).toEqual(earlier);
  const { refusals: [claimed] = [] } = await list({ code: 'invalid_client' });
  expect(claimed).toMatchObject({ clientId: '', clientAuthenticated: false });
  expect(claimed).not.toHaveProperty('earlier');
  const between = { since: time(now + 1), until: time(now + 9) } as Partial<Asked>;
  expect((await list(between)).refusals).toHaveLength(4);
  await expect(list({ pageToken: 'x' })).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('each filter has its index', async () => {
  await write(
    Array.from({ length: 2_000 }, (_, n) =>
      recordAt(n, { requestId: `request-${n}`, clientId: `c${n % 50}` as ClientId }),
    ),
  );
  await sql('analyze refusals');
  const scanned = async (filter: Filter) => {
    let plan = '';
    const explain: Queries['query'] = async ({ text }, values) => {
      plan = JSON.stringify(await sql(`explain ${text}`, [...values]));
      return [];
    };
    await findRefusals({ database: { query: explain } as Database }, { ...unfiltered, ...filter }, firstPage);
    return /refusals_\w+/.exec(plan)?.[0];
  };
  expect(await scanned({ requestId: 'request-7' })).toBe('refusals_request');
  expect(await scanned({ clientId: 'c7' })).toBe('refusals_client');
  expect(await scanned({ code: 'invalid_scope' })).toBe('refusals_code');
  expect(await scanned({})).toBe('refusals_at');
});
