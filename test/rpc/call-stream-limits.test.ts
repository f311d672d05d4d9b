// What calls over a stream are refused, and what one of them takes from another: nothing (decision 0028).
import { connect } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { Code, createClient } from '@connectrpc/connect';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { CallStreamService } from '@course-exchange/proto/rpc/v1';
import { methodPath } from '@course-exchange/runtime/grpc/methods';
import type { RpcServerOptions } from '@course-exchange/runtime/grpc/server';
import { Failure, Overloaded } from '@course-exchange/runtime/process/errors';
import { describe, expect, onTestFinished, test } from 'vitest';
import { grpcTransport } from '../support/grpc-client.ts';
import { client, gate, pod } from './pods.ts';

test('more calls in flight than a client may have are Overloaded; another method has capacity', async () => {
  const { held, hold, release } = gate();
  const { port } = await pod({ exchangeToken: hold });
  const { exchangeToken, listEvents } = client([port]);
  const asked = Array.from({ length: 512 }, () => exchangeToken({}));
  await expect(exchangeToken({})).rejects.toBeInstanceOf(Overloaded);
  expect(await listEvents({})).toEqual([]);
  await expect.poll(() => held.length).toBe(512);
  release();
  await Promise.all(asked);
  expect((await exchangeToken({})).accessToken).toBe('late');
});

test('more calls in flight than a server takes are refused before their work', async () => {
  const { held, hold, release } = gate();
  const { port } = await pod({ exchangeToken: hold });
  const refusals: Failure[] = [];
  const refused = (failure: Failure) => void refusals.push(failure);
  const settled = [client([port]), client([port]), client([port])].flatMap(({ exchangeToken }) =>
    Array.from({ length: 400 }, () => exchangeToken({}).catch(refused)),
  );
  await expect.poll(() => [held.length, refusals.length]).toEqual([1_024, 176]);
  release();
  await Promise.all(settled);
  expect(refusals).toHaveLength(176);
  expect(refusals[0]).toMatchObject({ code: 'temporarily_unavailable' });
});

test('each call is authenticated separately: a refused one does not affect the others', async () => {
  const authenticate: RpcServerOptions['authenticate'] = ({ bearer }) => {
    if (bearer !== 'good') throw new Overloaded('no_capacity');
  };
  const { port, calls } = await pod({}, { authenticate });
  const { exchangeToken } = client([port]);
  const asked = ['good', 'bad', 'good'].map((token) => exchangeToken({}, { bearer: token }));
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(calls()).toBe(2);
});

test('a request that no server takes is refused alone', async () => {
  const { held, hold, release } = gate();
  const { port } = await pod({ exchangeToken: hold });
  const { exchangeToken } = client([port], { timeoutMs: 60_000 });
  const asked: Promise<unknown>[] = [];
  // More calls in flight than there are streams, each sent in a separate tick.
  for (let call = 1; call <= 12; call += 1) {
    asked.push(exchangeToken({}));
    await expect.poll(() => held.length).toBe(call);
  }
  await expect(exchangeToken({ code: 'x'.repeat(300 * 1024) })).rejects.toMatchObject({
    code: 'server_error',
  });
  release();
  await Promise.all(asked);
});

test('an answer that no client takes fails alone [R14.8]', async () => {
  const { port } = await pod({
    exchangeToken: async ({ code }) => ({ accessToken: 'x'.repeat(Number(code)) }),
  });
  const { exchangeToken } = client([port]);
  const [small, large] = await Promise.allSettled(
    ['100000', '4000000'].map((code) => exchangeToken({ code })),
  );
  expect(small).toMatchObject({ status: 'fulfilled' });
  expect(large).toMatchObject({ reason: { code: 'server_error' } });
});

test('no message is larger than its reader takes, whatever calls come together', async () => {
  const { held, hold, release } = gate('x'.repeat(250_000));
  const { port } = await pod({ exchangeToken: hold });
  const { exchangeToken } = client([port]);
  const bearer = 'x'.repeat(10_000);
  const asked = Array.from({ length: 300 }, () => exchangeToken({}, { bearer }));
  await expect.poll(() => held.length).toBe(300);
  release();
  for (const { accessToken } of await Promise.all(asked)) expect(accessToken).toHaveLength(250_000);
});

const paths = {
  exchangeToken: methodPath(TokenService.method.exchangeToken),
  listEvents: methodPath(CatalogService.method.listEvents),
};
const ids = (count: number) => Array.from({ length: count }, (_, nth) => nth + 1);

const { carry } = CallStreamService.method;

type DeafCaller = ReturnType<typeof deafCaller>;

/** A caller on one stream that reads no answer until the test lets it: its flow-control window is empty. */
function deafCaller(port: number) {
  const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } });
  const stream = session.request({
    ':method': 'POST',
    ':path': methodPath(carry),
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  for (const emitter of [session, stream]) emitter.on('error', () => {});
  const leave = () => session.destroy();
  onTestFinished(leave);
  return {
    say: (message: MessageInitShape<typeof carry.input>): void => {
      const bytes = toBinary(carry.input, create(carry.input, message));
      const head = Buffer.alloc(5);
      head.writeUInt32BE(bytes.length, 1);
      stream.write(Buffer.concat([head, bytes]));
    },
    /** Bytes that come once it reads. */
    read: (): { readonly bytes: number } => {
      const seen = { bytes: 0 };
      stream.on('data', (chunk: Buffer) => {
        seen.bytes += chunk.length;
      });
      session.settings({ initialWindowSize: 2 ** 30 });
      session.setLocalWindowSize(2 ** 30);
      return seen;
    },
    leave,
  };
}

test('an id that is used twice ends the stream with INVALID_ARGUMENT, and its calls with it', async () => {
  const aborted: number[] = [];
  const { port } = await pod({
    exchangeToken: async (_request, call) => {
      call.signal().addEventListener('abort', () => aborted.push(1));
      return new Promise<never>(() => {});
    },
  });
  const { carry } = createClient(CallStreamService, grpcTransport(`127.0.0.1:${port}`));
  const twice = async function* () {
    yield { calls: [1, 2, 1].map((id) => ({ id, method: paths.exchangeToken, timeoutMs: 60_000 })) };
    await new Promise<never>(() => {});
  };
  await expect(Array.fromAsync(carry(twice()))).rejects.toMatchObject({ code: Code.InvalidArgument });
  expect(aborted).toEqual([1, 1]);
});

describe('capacity is freed whatever its call waits for', () => {
  const never = new Promise<never>(() => {});
  /** Handlers that never end but for `last`: one waits for itself, the other for a caller that reads nothing. */
  const handlers: Parameters<typeof pod>[0] = {
    exchangeToken: (_request, { bearer }) => (bearer === 'last' ? sleep(0, {}) : never),
    listEvents: async function* (_request, { bearer }) {
      while (bearer !== 'last') yield { body: Buffer.alloc(100_000) };
    },
  };
  const hour = 3_600_000;

  test.each<[string, 'exchangeToken' | 'listEvents', number, (caller: DeafCaller) => void]>([
    ['at its deadline, in its handler', 'exchangeToken', 4_000, () => {}],
    ['at its deadline, between two parts', 'listEvents', 4_000, () => {}],
    ['when it is cancelled', 'exchangeToken', hour, ({ say }) => say({ cancelledIds: ids(1_024) })],
    ['when its connection is gone, in its handler', 'exchangeToken', hour, ({ leave }) => leave()],
    ['when its connection is gone, between two parts', 'listEvents', hour, ({ leave }) => leave()],
  ])('%s', async (_when, method, timeoutMs, end) => {
    const { port } = await pod(handlers);
    const caller = deafCaller(port);
    caller.say({ calls: ids(1_024).map((id) => ({ id, method: paths[method], timeoutMs })) });
    const other = client([port]);
    const ask = () =>
      other[method]({}, { bearer: 'last' }).then(
        () => 'served',
        ({ code }) => code,
      );
    await expect.poll(ask).toBe('temporarily_unavailable');
    end(caller);
    await expect.poll(ask).toBe('served');
  });
});

test('calls of a caller that reads are answered between the parts of large lists without an end', async () => {
  let isOver = false;
  const body = Buffer.alloc(256 * 1024);
  const { port } = await pod({
    listEvents: async function* () {
      while (!isOver) yield { body };
    },
  });
  const { exchangeToken, listEvents } = client([port]);
  const lists = ids(40).map(() => listEvents({}, {}, () => {}));
  for (const _ of ids(20)) await exchangeToken({});
  isOver = true;
  await Promise.all(lists);
});

test('handlers that run on after their calls were cancelled are bounded', async () => {
  const { held, hold, release } = gate();
  const { port } = await pod({ exchangeToken: hold });
  const caller = deafCaller(port);
  for (let round = 0; round < 6; round += 1) {
    const asked = ids(1_000).map((id) => round * 1_000 + id);
    caller.say({ calls: asked.map((id) => ({ id, method: paths.exchangeToken, timeoutMs: 60_000 })) });
    caller.say({ cancelledIds: asked });
  }
  await expect.poll(() => held.length).toBe(4_096);
  await expect(client([port]).exchangeToken({})).rejects.toBeInstanceOf(Failure);
  expect(held.length).toBe(4_096);
  release();
  await client([port]).exchangeToken({});
});

test('a caller that does not read its answers is not read from, and goes on when it reads', async () => {
  const accessToken = 'x'.repeat(10_000);
  const { port, calls } = await pod({ exchangeToken: async () => ({ accessToken }) });
  const caller = deafCaller(port);
  // Each has 20 kB, so that few come at once.
  const metadata = { padding: 'x'.repeat(19_000) };
  for (const id of ids(500))
    caller.say({ calls: [{ id, method: paths.exchangeToken, timeoutMs: 60_000, metadata }] });
  const other = client([port]);
  for (const _ of ids(50)) await other.exchangeToken({});
  // Node's stream of answers is full.
  await expect.poll(() => calls() - 50).toBeGreaterThan(16);
  expect(calls() - 50).toBeLessThan(150);
  const seen = caller.read();
  await expect.poll(() => calls() - 50).toBe(500);
  await expect.poll(() => seen.bytes).toBeGreaterThan(500 * accessToken.length);
});
