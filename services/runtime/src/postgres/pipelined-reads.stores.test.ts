// Reads of many requests over one connection, or few: their answers are kept apart, and whatever happens to the
// connection is over with the next read.
import { randomInt, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import {
  openReads,
  type PipelinedReads,
  type ReadOptions,
} from '@course-exchange/runtime/postgres/pipelined-reads';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { measureWith } from '@course-exchange/runtime/process/metrics';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { patient } from '../../../../test/stores/postgres.ts';
import { receiveTraces } from '../../../../test/support/reports.ts';

const url = process.env.TEST_POSTGRES_URL ?? '';
const administrator = new pg.Pool({ connectionString: url, max: 1 });
afterAll(() => administrator.end());

let applicationName: string;
let reads: PipelinedReads;
beforeEach(() => {
  applicationName = `reads ${randomUUID()}`;
  reads = openAt(url);
});
afterEach(() => reads.close());

function openAt(address: string, more: Partial<ReadOptions> = {}): PipelinedReads {
  return openReads({
    url: address,
    applicationName,
    ...patient,
    readOnly: true,
    schema: 'public',
    logger: createLogger('test', 'error', () => {}),
    ...more,
  });
}

const echo = { isRead: true, name: 'echo', text: 'select $1::int as value' } as const;
const divide = { isRead: true, name: 'divide', text: 'select 1 / $1::int as value' } as const;
const sleep = { isRead: true, name: 'sleep', text: 'select pg_sleep($1)' } as const;
const lock = { isRead: true, name: 'lock', text: 'select pg_advisory_lock($1)' } as const;
const lockKey = randomInt(2 ** 47);

async function echoOf(value: number): Promise<number | undefined> {
  return (await reads.query<{ value: number }>(echo, [value]))[0]?.value;
}

async function backends(): Promise<number[]> {
  const sql = 'select pid from pg_stat_activity where application_name = $1';
  return (await administrator.query<{ pid: number }>(sql, [applicationName])).rows.map(({ pid }) => pid);
}

test('a hundred reads at once share one connection, and each gets its own answer', async () => {
  const values = Array.from({ length: 100 }, (_, index) => index);
  expect(await Promise.all(values.map(echoOf))).toEqual(values);
  expect(await backends()).toHaveLength(1);
});

test('a statement that fails harms none of those around it', async () => {
  const [before, failed, after] = await Promise.allSettled([echoOf(1), reads.query(divide, [0]), echoOf(2)]);
  expect(failed).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
  expect([before, after]).toMatchObject([{ value: 1 }, { value: 2 }]);
});

test('nothing is written over it, whatever its role may write', async () => {
  // @ts-expect-error a statement that may write does not compile
  await expect(reads.query({ name: 'write', text: 'create table t ()' }, [])).rejects.toThrow();
});

test('a read whose backend is killed is temporarily unavailable, and the next one connects again', async () => {
  await echoOf(1);
  const waiting = reads.query(sleep, [60]);
  const refused = expect(waiting).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await administrator.query('select pg_terminate_backend($1)', [(await backends())[0]]);
  await refused;
  expect(await echoOf(2)).toBe(2);
});

test('a connection that was closed while idle is replaced unnoticed', async () => {
  const lines: string[] = [];
  reads = openAt(url, { logger: createLogger('test', 'warn', (line) => lines.push(line)) });
  await echoOf(1);
  await administrator.query('select pg_terminate_backend($1)', [(await backends())[0]]);
  await expect.poll(() => lines.join()).toContain('Postgres connection for reads lost');
  expect(await echoOf(2)).toBe(2);
});

test('a read that takes too long is temporarily unavailable, and those behind it go on', async () => {
  // Only Postgres' clock counts: ours, which is stopped, would give up those behind it too on a machine that stalled.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  reads = openAt(url, { statementTimeoutMs: 400 });
  const slow = expect(reads.query(sleep, [60])).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  expect(await echoOf(3)).toBe(3);
  await slow;
});

test('reads of a locked table on a new connection are temporarily unavailable, all of them [R14.1]', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await administrator.query('create table locked_reads (value int)');
  onTestFinished(() => void administrator.query('drop table locked_reads'));
  reads = openAt(url, { statementTimeoutMs: 400 });
  const count = () =>
    reads.query({ isRead: true, name: 'count locked', text: 'select count(*) from locked_reads' }, []);
  await administrator.query('begin; lock table locked_reads in access exclusive mode');
  // The first prepares the statement for all.
  const refused = await Promise.allSettled([count(), count(), count()]);
  await administrator.query('commit');
  const unavailable = { status: 'rejected', reason: { code: 'temporarily_unavailable' } };
  expect(refused).toMatchObject([unavailable, unavailable, unavailable]);
  expect(await count()).toEqual([{ count: '0' }]);
});

test('a connection that a read holds up does not hold up later reads on another', async () => {
  const pool = openAt(url, { poolSize: 2 });
  await pool.query(echo, [0]);
  await administrator.query('select pg_advisory_lock($1)', [lockKey]);
  const held = pool.query(lock, [lockKey]);
  // Goes behind it, for there is no other connection yet: this one opens it.
  const behind = nextTurn().then(() => pool.query(echo, [1]));
  let answered = 0;
  await vi.waitFor(
    () => {
      void pool.query(echo, [2]).then(() => {
        answered += 1;
      });
      expect(answered).toBeGreaterThan(0);
    },
    { timeout: 20_000, interval: 50 },
  );
  expect(await backends()).toHaveLength(2);
  await administrator.query('select pg_advisory_unlock($1)', [lockKey]);
  await Promise.all([held, behind]);
  await pool.close();
});

test('each read without Postgres is temporarily unavailable', async () => {
  const away = openAt('postgres://u:p@127.0.0.1:1/none');
  await expect(away.query(echo, [1])).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await expect(away.query(echo, [1])).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await away.close();
});

test('metrics tell how many are not answered, and the span of each how long those before it held it up', async () => {
  const traces = await receiveTraces();
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json');
  const { metricsText = async () => '', flush } = await startTelemetry('test', {
    OTEL_EXPORTER_OTLP_ENDPOINT: traces.endpoint,
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_TRACES_SAMPLER_ARG: 1,
  });
  onTestFinished(async () => {
    measureWith(undefined);
    vi.unstubAllEnvs();
    await traces.stop();
  });
  await reads.close();
  reads = openAt(url);
  const unanswered = async () =>
    (await metricsText()).match(/^course_exchange_db_pipeline_reads\{.+ (\d+)$/m)?.[1];
  await echoOf(1);
  expect(await unanswered()).toBe('0');
  const lock = Math.floor(Math.random() * 2 ** 31);
  await administrator.query('select pg_advisory_lock($1)', [lock]);
  const held = { isRead: true, name: 'held up', text: 'select pg_advisory_xact_lock_shared($1)' } as const;
  const both = Promise.all([reads.query(held, [lock]), echoOf(2)]);
  const begun = performance.now();
  await expect.poll(unanswered).toBe('2');
  await pause(100);
  const heldUp = performance.now() - begun;
  await administrator.query('select pg_advisory_unlock($1)', [lock]);
  await both;
  expect(await unanswered()).toBe('0');
  await flush();
  const waits = traces.spans().map(({ name, attributes }) => ({
    name,
    wait: Number(attributes['course_exchange.db.connection.wait_ms']),
  }));
  const waited = (wanted: string) => waits.filter(({ name }) => name === wanted).at(-1)?.wait;
  expect(waited('postgres echo')).toBeGreaterThanOrEqual(Math.floor(heldUp));
  expect(waited('postgres held up')).toBeLessThan(waited('postgres echo') ?? 0);
});
