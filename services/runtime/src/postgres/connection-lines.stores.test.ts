// Lines about a connection are filed under no request: the one that opened or used it last has its answer.
import { randomUUID } from 'node:crypto';
import { openReads } from '@course-exchange/runtime/postgres/pipelined-reads';
import { openDatabase, type Reads } from '@course-exchange/runtime/postgres/pool';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/process/request-context';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { expect, onTestFinished, test } from 'vitest';
import { patient } from '../../../../test/stores/postgres.ts';
import { openStore, until } from '../../../../test/stores/redis-servers.ts';

carryContextAcrossAwaits();
const url = process.env.TEST_POSTGRES_URL ?? '';

/** Collects lines; says under which request the first one with `message` is. */
function collect() {
  const lines: { readonly message: string; readonly requestId?: string }[] = [];
  const requestOf = async (message: string) => {
    await until(message, () => lines.some((line) => line.message === message));
    return lines.find((line) => line.message === message)?.requestId;
  };
  return { write: (line: string) => void lines.push(JSON.parse(line)), requestOf };
}

const inRequest = <T>(work: () => Promise<T>) =>
  context.with(withCall(ROOT_CONTEXT, 'request-answered', Date.now() + 60_000), work);
const query = (store: Reads, text: string) =>
  inRequest(() => store.query({ isRead: true, name: 'once', text }, []));

test.each([
  ['idle Postgres connection lost', openDatabase],
  ['Postgres connection for reads lost', openReads],
])('%s', async (message, open) => {
  const { write, requestOf } = collect();
  const options = { ...patient, schema: 'public', poolSize: 1, logger: createLogger('test', 'info', write) };
  const applicationName = `lines ${randomUUID()}`;
  const store: Reads & { close: () => Promise<void> } = open({ url, applicationName, ...options });
  onTestFinished(store.close);
  await query(store, 'select 1');
  const ending = openDatabase({ url, applicationName: 'ending', ...options });
  onTestFinished(ending.close);
  const backend = `from pg_stat_activity where application_name = '${applicationName}'`;
  await query(ending, `select pg_terminate_backend(pid) ${backend}`);
  expect(await requestOf(message)).toBeUndefined();

  const unknown = Object.assign(new URL(url), { username: `nobody_${randomUUID()}` }).href;
  const locked = open({ url: unknown, applicationName, ...options });
  onTestFinished(locked.close);
  await expect(query(locked, 'select 1')).rejects.toThrow();
  expect(await requestOf('Postgres account is unusable')).toBeUndefined();
});

test('Redis connection failed, and restored', async () => {
  const { write, requestOf } = collect();
  const store = await openStore({ REDIS_URL: process.env.TEST_REDIS_URL ?? '' }, write, 20_000);
  onTestFinished(store.close);
  // As a write does that finds the connection broken.
  const cut = () => store.run('cut', 'key', async (redis) => redis.stream.destroy(new Error('broken pipe')));
  await inRequest(cut);
  expect(await requestOf('Redis connection failed')).toBeUndefined();
  expect(await requestOf('Redis connection restored')).toBeUndefined();
});
