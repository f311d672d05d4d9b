// Lines about a connection are filed under no request: whoever opened or used it last is long answered.
import { randomUUID } from 'node:crypto';
import { openReads } from '@course-exchange/runtime/postgres/pipelined-reads';
import { openDatabase, type Queries } from '@course-exchange/runtime/postgres/pool';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/process/request-context';
import { context, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';
import pg from 'pg';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { patient } from './postgres.ts';
import { openStore, until } from './redis-servers.ts';

carryContextAcrossAwaits();
const url = process.env.TEST_POSTGRES_URL ?? '';
const administrator = new pg.Pool({ connectionString: url, max: 1 });
afterAll(() => administrator.end());

interface Line {
  readonly message: string;
  readonly requestId?: string;
  readonly traceId?: string;
}

function collect() {
  const lines: Line[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Line);
  /** The ids of the first line that says `message`. */
  const idsOf = async (message: string) => {
    const line = () => lines.find((one) => one.message === message);
    await until(message, async () => line() !== undefined);
    return { requestId: line()?.requestId, traceId: line()?.traceId };
  };
  return { write, idsOf };
}

/** Runs `work` as a request that is traced. */
function inRequest<T>(work: () => Promise<T>): Promise<T> {
  const span = {
    traceId: randomUUID().replaceAll('-', ''),
    spanId: '00f067aa0ba902b7',
    traceFlags: TraceFlags.NONE,
  };
  const call = withCall(ROOT_CONTEXT, 'request-answered', Date.now() + 60_000);
  return context.with(trace.setSpanContext(call, span), work);
}

const nobody = { requestId: undefined, traceId: undefined };

test.each([
  ['idle Postgres connection lost', openDatabase],
  ['Postgres connection for reads lost', openReads],
])('%s', async (message, open) => {
  const applicationName = `lines ${randomUUID()}`;
  const { write, idsOf } = collect();
  const store: Queries & { close: () => Promise<void> } = open({
    url,
    applicationName,
    ...patient,
    schema: 'public',
    poolSize: 1,
    logger: createLogger('test', 'info', write),
  });
  onTestFinished(store.close);
  await inRequest(() => store.query({ name: 'one', text: 'select 1' }, []));
  const end = 'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1';
  await administrator.query(end, [applicationName]);
  expect(await idsOf(message)).toEqual(nobody);
});

test('Postgres account is unusable', async () => {
  const { write, idsOf } = collect();
  const unknown = new URL(url);
  unknown.username = `nobody_${randomUUID()}`;
  const database = openDatabase({
    url: unknown.href,
    applicationName: 'lines',
    ...patient,
    schema: 'public',
    poolSize: 1,
    logger: createLogger('test', 'info', write),
  });
  onTestFinished(database.close);
  await expect(inRequest(() => database.query({ name: 'one', text: 'select 1' }, []))).rejects.toThrow();
  expect(await idsOf('Postgres account is unusable')).toEqual(nobody);
});

test('Redis connection failed, and restored', async () => {
  const { write, idsOf } = collect();
  const store = await openStore({ REDIS_URL: process.env.TEST_REDIS_URL ?? '' }, write);
  onTestFinished(store.close);
  // As a write does that finds the connection broken.
  const cut = () => store.run('cut', 'key', async (redis) => redis.stream.destroy(new Error('broken pipe')));
  await inRequest(cut);
  expect(await idsOf('Redis connection failed')).toEqual(nobody);
  expect(await idsOf('Redis connection restored')).toEqual(nobody);
});
