// A server that hangs is left, and used again when it goes on (decision 0029).
import type { IncomingCall } from '@course-exchange/runtime/grpc/incoming-call';
import { expect, test } from 'vitest';
import { client, cuttable, gate, pod } from './pods.ts';

/** Ten calls, one after the other. */
async function areAnswered({ exchangeToken }: Pick<ReturnType<typeof client>, 'exchangeToken'>) {
  for (let call = 0; call < 10; call += 1)
    if (!(await exchangeToken({}).then(Boolean, () => false))) return false;
  return true;
}

test('a server that hangs is left, another one finishes its calls, and it is used again when it goes on', async () => {
  const { held, hold, release } = gate();
  const holdList = async function* (request: unknown, call: IncomingCall) {
    yield { body: Buffer.from((await hold(request, call)).accessToken) };
  };
  const [hangs, stays] = [await pod(), await pod({ listEvents: holdList })];
  const link = await cuttable(hangs.port);
  const calls = client([link.port, stays.port], { timeoutMs: 3_000 });
  await expect.poll(() => calls.exchangeToken({}).then(hangs.calls), { timeout: 20_000 }).toBeGreaterThan(0);
  const lists = Array.from({ length: 12 }, () => calls.listEvents({}));
  const ended = Promise.allSettled(lists);
  await expect.poll(() => held.length).toBeGreaterThan(0);
  link.mute();
  await expect.poll(() => areAnswered(calls), { timeout: 20_000 }).toBe(true);
  release();
  const answered = (await ended).filter(({ status }) => status === 'fulfilled');
  expect(answered).toHaveLength(held.length);
  const before = hangs.calls();
  link.unmute();
  await expect
    .poll(() => calls.exchangeToken({}).then(hangs.calls), { timeout: 20_000 })
    .toBeGreaterThan(before);
}, 60_000);

test('the only server hangs: calls reach what new connections lead to', async () => {
  const [hangs, other] = [await pod(), await pod()];
  const link = await cuttable(hangs.port);
  const calls = client([link.port], { timeoutMs: 3_000 });
  await calls.exchangeToken({});
  link.mute();
  link.leadTo(other.port);
  await expect.poll(() => areAnswered(calls), { timeout: 20_000 }).toBe(true);
  expect(other.calls()).toBeGreaterThan(0);
}, 60_000);
