// A Postgres that is slow to open connections, as on a node where pods start: whoever waits gets the first connection that
// is free, not the one that was opened for it, and one stays open for those who come after a pause.
import { openDatabase } from '@course-exchange/runtime/postgres/pool';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openLink } from '../support/tcp-link.ts';

const unavailable = { code: 'temporarily_unavailable' };
const pid = { name: 'pid', text: 'select pg_backend_pid() as pid' };

/** A pool whose first `carried` connections reach Postgres; later ones are accepted and never answered. */
async function openSlowPool(carried: number, lifetimeMs = 60_000) {
  const address = new URL(process.env.TEST_POSTGRES_URL ?? '');
  let opened = 0;
  const { promise: hung, resolve: hangs } = Promise.withResolvers<void>();
  const link = await openLink(Number(address.port), (client, upstream) => {
    opened += 1;
    if (opened > carried) return hangs();
    client.pipe(upstream).pipe(client);
  });
  address.port = String(link.port);
  const database = openDatabase({
    url: String(address),
    applicationName: 'slow connections',
    statementTimeoutMs: 5_000,
    schema: 'public',
    poolSize: 3,
    lifetimeMs,
    logger: createLogger('test', 'error', () => {}),
  });
  onTestFinished(async () => {
    await link.close();
    await database.close();
  });
  return { ...database, hung, opened: () => opened };
}

test('who waits for a new connection takes one that is given back before it', async () => {
  const { transaction, query, hung } = await openSlowPool(1);
  // The time that a connection may take does not pass, however slow the machine is.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const waiting = await transaction(async (held) => {
    const asked = Promise.all([query(pid, []), query(pid, [])]);
    asked.catch(() => {});
    await hung;
    return { asked, own: await held.query(pid, []) };
  });
  expect(await waiting.asked).toEqual([waiting.own, waiting.own]);
});

test('who finds no connection that is free is told so when none can be opened [R14.1]', async () => {
  const { transaction, query, hung } = await openSlowPool(1);
  await transaction(async (held) => {
    const asked = Promise.allSettled([query(pid, []), query(pid, [])]);
    await hung;
    for (const one of await asked) expect(one).toMatchObject({ status: 'rejected', reason: unavailable });
    expect(await held.query(pid, [])).toHaveLength(1);
  });
  expect(await query(pid, [])).toHaveLength(1);
});

test('a connection that has lived its time is replaced though nobody asks', async () => {
  const { query, opened } = await openSlowPool(Number.POSITIVE_INFINITY, 200);
  await query(pid, []);
  await expect.poll(opened, { timeout: 20_000 }).toBeGreaterThan(2);
});
