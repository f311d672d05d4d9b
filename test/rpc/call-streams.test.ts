// What a call over a stream keeps of a call that has a separate HTTP/2 stream (decision 0028).
import { once } from 'node:events';
import { constants, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { withCall } from '@course-exchange/runtime/process/request-context';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { expect, onTestFinished, test } from 'vitest';
import { client, cuttable, gate, type Pod, pod } from './pods.ts';

function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('a deadline ends the call at both ends', async () => {
  const { held, hold } = gate();
  const { port } = await pod({ exchangeToken: hold });
  const { exchangeToken, listEvents } = client([port]);
  // Connects.
  await listEvents({});
  const asked = context.with(withCall(ROOT_CONTEXT, 'r', Date.now() + 4_000), () => exchangeToken({}));
  const refused = expect(asked).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  await expect.poll(() => held.length).toBe(1);
  const signal = held[0]?.signal();
  await refused;
  await expect.poll(() => signal?.aborted).toBe(true);
});

test('a call whose caller is gone is cancelled', async () => {
  const { held, hold } = gate();
  const { port } = await pod({ exchangeToken: hold });
  const link = await cuttable(port);
  const asked = client([link.port], { timeoutMs: 60_000 }).exchangeToken({});
  await expect.poll(() => held.length).toBe(1);
  const signal = held[0]?.signal();
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

test('an answer that came while the caller was stalled is not missed for its deadline', async () => {
  const { port } = await pod({
    exchangeToken: async ({ code }) => {
      // One iteration of the event loop after the write of the answer: it lies in the socket when the deadline's timer is due.
      if (code === 'stand still') setImmediate(() => setImmediate(standStill, 4_500));
      return { accessToken: 'in time' };
    },
  });
  const { exchangeToken } = client([port]);
  await exchangeToken({});
  const called = withCall(ROOT_CONTEXT, 'r', Date.now() + 4_000);
  const answer = await context.with(called, () => exchangeToken({ code: 'stand still' }));
  expect(answer.accessToken).toBe('in time');
});

test('calls are spread over pods, and reach one that comes back', async () => {
  // No connection of a test beside this one takes the port while no pod listens.
  const address = `127.0.0.1:${(await choosePorts(['goes'])).goes}`;
  const [stays, goes] = [await pod(), await pod({}, { address })];
  const { exchangeToken } = client([stays.port, goes.port]);
  const reach = async ({ calls }: Pod): Promise<void> => {
    const ask = () => exchangeToken({}).then(calls);
    // Streams that were opened before the pod was there live on for a while.
    await expect.poll(ask).toBeGreaterThan(10);
  };
  await Promise.all([reach(stays), reach(goes)]);
  await goes.stop(1_000);
  await exchangeToken({});
  await reach(await pod({}, { address }));
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
  await expect.poll(() => stops.calls()).toBeGreaterThan(20);
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
    // No other pod: nothing replaces its streams.
    const stopped = stop(10_000);
    const answer = exchangeToken({}).then(() => exchangeToken({}));
    const answered = answer.then(Boolean, () => false);
    await stopped;
    return answered;
  };
  // Once more if this machine stalls for as long as a drained stream waits.
  expect((await answeredAfterDrain()) || (await answeredAfterDrain())).toBe(true);
});

/** Three pods behind links that can be cut; a client has reached each. */
async function threePods(
  handlersOf: (nth: number) => Parameters<typeof pod>[0],
  options: Parameters<typeof client>[1],
) {
  const pods = await Promise.all([0, 1, 2].map((nth) => pod(handlersOf(nth))));
  const links = await Promise.all(pods.map(({ port }) => cuttable(port)));
  const ports = links.map(({ port }) => port);
  const calls = client(ports, { timeoutMs: 60_000, ...options });
  const allReached = async () => {
    await calls.exchangeToken({});
    return pods.every((one) => one.calls() > 0);
  };
  await expect.poll(allReached).toBe(true);
  return { ...calls, cut: (nth = 0) => links[nth]?.cut() };
}

const [read, other] = ['getUserInfo', 'exchangeToken'] as const;
test.each([
  ['a read that loses its stream is sent once more', read, true, 1, 'answered', 2],
  ['a read that loses its stream a second time fails', read, true, 2, 'temporarily_unavailable', 2],
  ['another call that loses its stream is not', other, true, 1, 'temporarily_unavailable', 1],
  ['another unary call is not sent again either', other, false, 1, 'temporarily_unavailable', 1],
] as const)('%s', async (_what, method, streams, losses, outcome, calls) => {
  const asked: number[] = [];
  let counting = false;
  const handlersOf = (nth: number) => ({
    [method]: async () => {
      if (counting && asked.push(nth) <= losses) await new Promise(() => {});
      return {};
    },
  });
  const { cut, ...pods } = await threePods(handlersOf, { streams });
  counting = true;
  const ended = pods[method]({}).then(
    () => 'answered',
    ({ code }) => code,
  );
  for (let lost = 1; lost <= losses; lost += 1) {
    await expect.poll(() => asked.length).toBe(lost);
    await cut(asked.at(-1));
  }
  expect(await ended).toBe(outcome);
  expect(asked).toHaveLength(calls);
});

test('a list that loses its stream after a part fails, and no part comes twice', async () => {
  const asked: number[] = [];
  const handlersOf = (nth: number) => ({
    listEvents: async function* () {
      const isFirst = asked.push(nth) === 1;
      yield { body: Buffer.of(1) };
      if (isFirst) await new Promise(() => {});
    },
  });
  const { listEvents, cut } = await threePods(handlersOf, {});
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

const unanswered = { code: 'temporarily_unavailable' };

test.each<[string, (stream: ServerHttp2Stream) => void, object]>([
  ['breaks after a failed write', (one) => one.close(constants.NGHTTP2_INTERNAL_ERROR), unanswered],
  ['stays silent', () => {}, { ...unanswered, message: 'the server is silent' }],
  // Four bytes that are no message.
  [
    'cannot be parsed',
    (one) => one.write(Buffer.from('00000000' + '04' + 'ffffffff', 'hex')),
    { code: 'server_error' },
  ],
])('the calls of a stream that %s fail as what it is [R14.1]', async (_how, answer, failure) => {
  const server = createServer();
  server.on('sessionError', () => {});
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {});
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    stream.once('data', () => answer(stream));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { exchangeToken } = client([(server.address() as AddressInfo).port], { timeoutMs: 60_000 });
  await expect(exchangeToken({})).rejects.toMatchObject(failure);
});
