// A server that hangs is left, whatever else happens meanwhile, and used again when it answers (decision 0029).
import { once } from 'node:events';
import { createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { experimental } from '@grpc/grpc-js';
import { expect, onTestFinished, test } from 'vitest';
import { connectRpc } from './client.ts';

/** Answers each call with an empty message; while it hangs, when it goes on. */
async function openServer() {
  const state = { port: 0, answered: 0, running: Promise.resolve() };
  const server = createServer().on('stream', async (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {});
    await state.running;
    if (stream.destroyed) return;
    if (headers[':path']?.endsWith('ExchangeToken')) state.answered += 1;
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.alloc(5));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  state.port = (server.address() as AddressInfo).port;
  return state;
}

/** Tells these addresses whenever it is asked, as a name server does. */
function registerName(scheme: string, ports: readonly number[]): () => void {
  const endpoints = () => ports.map((port) => ({ addresses: [{ host: '127.0.0.1', port }] }));
  let tell = (): void => {};
  class Resolver {
    // Not at once: `round_robin` asks again whenever it is told of a server that is left.
    readonly updateResolution = () => void setTimeout(() => tell(), 100).unref();

    constructor(_target: unknown, listener: experimental.ResolverListener) {
      tell = () => void listener({ ok: true, value: endpoints() }, {}, null, '');
    }

    static getDefaultAuthority(): string {
      return 'pods';
    }

    destroy(): void {
      tell = () => {};
    }
  }
  experimental.registerResolver(scheme, Resolver);
  return () => tell();
}

test('a server that hangs gets no calls, also when its name is resolved again, until it answers', async () => {
  const [hangs, other] = [await openServer(), await openServer()];
  const resolveAgain = registerName('two-pods', [hangs.port, other.port]);
  const rpc = connectRpc([TokenService], { target: 'two-pods:///all', timeoutMs: 3_000, reads: [] });
  onTestFinished(rpc.close);
  const { exchangeToken } = rpc.client(TokenService);
  const areAnswered = async (): Promise<boolean> => {
    for (let call = 0; call < 10; call += 1)
      if (!(await exchangeToken({}).then(Boolean, () => false))) return false;
    return true;
  };
  const isUsed = (server: typeof other) => async () => {
    await exchangeToken({}).catch(() => {});
    return server.answered;
  };

  await expect.poll(isUsed(hangs), { timeout: 20_000 }).toBeGreaterThan(0);
  await expect.poll(isUsed(other), { timeout: 20_000 }).toBeGreaterThan(0);
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  hangs.running = promise;
  await expect.poll(areAnswered, { timeout: 20_000 }).toBe(true);
  resolveAgain();
  expect(await areAnswered()).toBe(true);

  const before = hangs.answered;
  hangs.running = Promise.resolve();
  goOn();
  await expect.poll(isUsed(hangs), { timeout: 20_000 }).toBeGreaterThan(before);
}, 60_000);

test('the only server hangs: its name is asked for another one', async () => {
  const [hangs, other] = [await openServer(), await openServer()];
  const ports = [hangs.port];
  registerName('one-pod', ports);
  const rpc = connectRpc([TokenService], { target: 'one-pod:///all', timeoutMs: 3_000, reads: [] });
  onTestFinished(rpc.close);
  const ask = () =>
    rpc
      .client(TokenService)
      .exchangeToken({})
      .then(Boolean, () => false);
  await expect.poll(ask).toBe(true);
  hangs.running = new Promise(() => {});
  ports.splice(0, 1, other.port);
  await expect.poll(ask, { timeout: 20_000 }).toBe(true);
  expect(other.answered).toBeGreaterThan(0);
}, 60_000);
