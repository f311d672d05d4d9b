// What a call over a stream keeps of a call that has an HTTP/2 stream of its own (decision 0028).
import { setTimeout as sleep } from 'node:timers/promises';
import { withCall } from '@course-exchange/runtime/process/request-context';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { client, cuttable, gate, type Pod, pod } from './pods.ts';

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Calls until one of them is held and all have arrived; gives all. */
async function callUntilHeld<T>(
  call: () => Promise<T>,
  held: readonly unknown[],
  arrived: () => number,
): Promise<Promise<T>[]> {
  const asked: Promise<T>[] = [];
  const ask = () => {
    const answer = call();
    answer.catch(() => {});
    asked.push(answer);
    return held.length;
  };
  await expect.poll(ask, { timeout: 20_000 }).toBeGreaterThan(0);
  await expect.poll(arrived).toBe(asked.length);
  return asked;
}

test('a deadline ends the call at both ends', async () => {
  const { held, hold } = gate();
  const { port } = await pod({ exchangeToken: hold });
  const { exchangeToken, listEvents } = client([port]);
  // Connects.
  await listEvents({});
  const asked = context.with(withCall(ROOT_CONTEXT, 'r', Date.now() + 2_000), () => exchangeToken({}));
  const refused = expect(asked).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await expect.poll(() => held.length).toBe(1);
  const signal = held[0]?.signal;
  await refused;
  await expect.poll(() => signal?.aborted).toBe(true);
});

test('a call whose caller is gone is cancelled', async () => {
  const { held, hold } = gate();
  const { port } = await pod({ exchangeToken: hold });
  const link = await cuttable(port);
  const asked = client([link.port], { timeoutMs: 60_000 }).exchangeToken({});
  await expect.poll(() => held.length).toBe(1);
  const signal = held[0]?.signal;
  expect(signal?.aborted).toBe(false);
  await Promise.all([link.cut(), expect(asked).rejects.toMatchObject({ code: 'temporarily_unavailable' })]);
  await expect.poll(() => signal?.aborted).toBe(true);
});

test.each([100, 100_000, 262_144])(
  'a caller that refuses a part of %i bytes ends the answer at its source',
  async (bytes) => {
    let ended = false;
    const { port } = await pod({
      listEvents: async function* () {
        try {
          for (;;) yield { body: Buffer.alloc(bytes) };
        } finally {
          ended = true;
        }
      },
    });
    const refuse = () => {
      throw new Error('too many bytes');
    };
    await expect(client([port]).listEvents({}, {}, refuse)).rejects.toThrow('too many bytes');
    await expect.poll(() => ended).toBe(true);
  },
);

test('an answer that came while the caller stood still is not missed for its deadline', async () => {
  const { port } = await pod({
    exchangeToken: async ({ code }) => {
      // In the turn after the one that writes the answer: it lies in the socket when the deadline's timer is due.
      if (code === 'stand still') setImmediate(() => setImmediate(standStill, 2_500));
      return { accessToken: 'in time' };
    },
  });
  const { exchangeToken } = client([port]);
  await exchangeToken({});
  const called = withCall(ROOT_CONTEXT, 'r', Date.now() + 2_000);
  const answer = await context.with(called, () => exchangeToken({ code: 'stand still' }));
  expect(answer.accessToken).toBe('in time');
});

test('calls are spread over pods, and reach one that comes back', async () => {
  const [stays, goes] = [await pod(), await pod()];
  const { exchangeToken } = client([stays.port, goes.port]);
  const reach = async ({ calls }: Pod): Promise<void> => {
    const ask = () => exchangeToken({}).then(calls);
    // As long as streams may live that were opened before the pod was there.
    await expect.poll(ask, { timeout: 20_000 }).toBeGreaterThan(10);
  };
  await Promise.all([reach(stays), reach(goes)]);
  await goes.stop(1_000);
  await exchangeToken({});
  await reach(await pod({}, { address: `127.0.0.1:${goes.port}` }));
});

test('a pod that stops answers what it owes, and no call is lost', async () => {
  const slow = async () => {
    await sleep(30);
    return {};
  };
  const [stays, stops] = [await pod({ exchangeToken: slow }), await pod({ exchangeToken: slow })];
  const { exchangeToken } = client([stays.port, stops.port]);
  let going = true;
  let answered = 0;
  const callers = Array.from({ length: 8 }, async () => {
    for (; going; answered += 1) await exchangeToken({});
  });
  await expect.poll(() => stops.calls(), { timeout: 20_000 }).toBeGreaterThan(20);
  await stops.stop(10_000);
  const before = answered;
  await expect.poll(() => answered).toBeGreaterThan(before + 50);
  going = false;
  await Promise.all(callers);
});

test('a drained stream serves until another one has answered', async () => {
  const answeredAfterDrain = async (): Promise<boolean> => {
    const { port, stop } = await pod();
    const { exchangeToken } = client([port]);
    await exchangeToken({});
    // No other pod: nothing comes in the place of its streams.
    const stopped = stop(10_000);
    const answer = exchangeToken({}).then(() => exchangeToken({}));
    const answered = answer.then(Boolean, () => false);
    await stopped;
    return answered;
  };
  // Where this machine stands still for as long as a drained stream waits, once more.
  await expect.poll(answeredAfterDrain, { timeout: 20_000 }).toBe(true);
});

test('a read that loses its stream is sent once more', async () => {
  const { held, hold } = gate();
  const [breaks, stays] = [await pod({ exchangeToken: hold }), await pod()];
  const link = await cuttable(breaks.port);
  const { exchangeToken } = client([link.port, stays.port], { reads: ['exchangeToken'], timeoutMs: 60_000 });
  const asked = await callUntilHeld(
    () => exchangeToken({}),
    held,
    () => breaks.calls() + stays.calls(),
  );
  await link.cut();
  await Promise.all(asked);
  expect(stays.calls()).toBe(asked.length);
});

test('another call that loses its stream is not: it may have been processed', async () => {
  const { held, hold } = gate();
  const [breaks, stays] = [await pod({ exchangeToken: hold }), await pod()];
  const link = await cuttable(breaks.port);
  const { exchangeToken } = client([link.port, stays.port], { timeoutMs: 60_000 });
  const asked = await callUntilHeld(
    () => exchangeToken({}),
    held,
    () => breaks.calls() + stays.calls(),
  );
  await link.cut();
  const lost = (await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected');
  expect(lost).toHaveLength(held.length);
  expect(lost[0]).toMatchObject({ reason: { code: 'temporarily_unavailable' } });
  expect(breaks.calls() + stays.calls()).toBe(asked.length);
});

/** Three pods, of which a client has reached each, behind links that can be cut. */
async function threePods(handlersOf: (nth: number) => Parameters<typeof pod>[0]) {
  const pods = await Promise.all([0, 1, 2].map((nth) => pod(handlersOf(nth))));
  const links = await Promise.all(pods.map(({ port }) => cuttable(port)));
  const calls = client(
    links.map(({ port }) => port),
    { reads: ['exchangeToken', 'listEvents'], timeoutMs: 60_000 },
  );
  const allReached = async () => {
    await calls.exchangeToken({});
    return pods.every((one) => one.calls() > 0);
  };
  await expect.poll(allReached, { timeout: 20_000 }).toBe(true);
  return { ...calls, cut: (nth = 0) => links[nth]?.cut() };
}

test('a read that loses its stream a second time fails', async () => {
  const held: number[] = [];
  let holding = false;
  const { exchangeToken, cut } = await threePods((nth) => ({
    exchangeToken: async () => {
      if (holding && held.push(nth) < 3) await new Promise(() => {});
      return {};
    },
  }));
  holding = true;
  const lost = expect(exchangeToken({})).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  for (const times of [1, 2]) {
    await expect.poll(() => held.length).toBe(times);
    await cut(held.at(-1));
  }
  await lost;
  expect(held).toHaveLength(2);
});

test('a list that loses its stream after a part fails, and no part comes twice', async () => {
  const asked: number[] = [];
  const { listEvents, cut } = await threePods((nth) => ({
    listEvents: async function* () {
      const isFirst = asked.push(nth) === 1;
      yield { body: Buffer.of(1) };
      if (isFirst) await new Promise(() => {});
    },
  }));
  let parts = 0;
  const list = listEvents({}, {}, () => {
    parts += 1;
  });
  const lost = expect(list).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await expect.poll(() => parts).toBe(1);
  await cut(asked[0]);
  await lost;
  expect([asked.length, parts]).toEqual([1, 1]);
});
