import type { EventEmitter } from 'node:events';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLogger } from '../process/logger.ts';
import { openReads } from './pipelined-reads.ts';

/** Postgres' end of a connection: what a test lets happen. */
function fakeConnections() {
  const opened: { readonly client: EventEmitter; readonly connect: () => void; reads: number }[] = [];
  const { prototype } = pg.Client;
  const stream = { cork: () => {}, uncork: () => {} };
  const ofClient = (client: EventEmitter) => opened.find((one) => one.client === client);
  vi.spyOn(prototype, 'connect').mockImplementation(function (this: pg.Client) {
    const { promise, resolve } = Promise.withResolvers<void>();
    Object.assign(this.connection, { stream });
    opened.push({ client: this, connect: resolve, reads: 0 });
    return promise as never;
  });
  vi.spyOn(prototype, 'query').mockImplementation(function (this: pg.Client) {
    const found = ofClient(this);
    if (found) found.reads += 1;
    return new Promise((resolve) => setTimeout(resolve, 20, { rows: [] })) as never;
  });
  vi.spyOn(prototype, 'end').mockImplementation(async () => {});
  // A read takes 20 ms and a connection lives for 100, however long this process takes.
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
  onTestFinished(() => void vi.useRealTimers().restoreAllMocks());
  return opened;
}

test('a line whose successor comes after its loss is not connected', async () => {
  const opened = fakeConnections();
  const url = 'postgres://x@127.0.0.1:1/x';
  const logger = createLogger('test', 'error', () => {});
  const options = { url, applicationName: 'test', schema: 'public', statementTimeoutMs: 1_000, logger };
  const reads = openReads({ ...options, poolSize: 2, lifetimeMs: 100 });
  const read = () => reads.query({ isRead: true, name: 'read', text: 'select 1' }, []);
  const answered = async (...asked: readonly Promise<unknown>[]) => {
    await vi.advanceTimersByTimeAsync(20);
    await Promise.all(asked);
  };
  const first = read();
  opened[0]?.connect();
  await answered(first);
  const busy = read();
  await new Promise(setImmediate);
  const other = read();
  expect(opened.length).toBe(2);
  opened[1]?.connect();
  await answered(busy, other);

  await vi.advanceTimersByTimeAsync(120);
  await answered(read());
  expect(opened.length).toBe(3);
  opened[0]?.client.emit('error', new Error('lost'));
  opened[2]?.connect();
  await new Promise(setImmediate);
  const last = read();
  await new Promise(setImmediate);
  expect(opened[1]?.reads).toBe(1);
  await answered(last);
});
