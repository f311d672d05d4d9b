import { create } from '@bufbuild/protobuf';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { errorStatuses } from '@course-exchange/proto/error-codes';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { deadlineOf, requestIdOf, withCall } from '@course-exchange/runtime/call-context';
import { Failure } from '@course-exchange/runtime/failure';
import { createLogger } from '@course-exchange/runtime/logger';
import { connectRpc } from '@course-exchange/runtime/rpc-client';
import { type Handlers, type RpcServer, served, serveRpc } from '@course-exchange/runtime/rpc-server';
import { startTelemetry } from '@course-exchange/runtime/telemetry';
import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { afterEach, beforeAll, expect, test } from 'vitest';

const closing: (() => Promise<void> | void)[] = [];
const lines: string[] = [];

beforeAll(() => {
  startTelemetry({ service: 'test', version: '0', otlpEndpoint: undefined, sampleRatio: 1 });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  lines.length = 0;
});

async function catalog(
  handlers: Partial<Handlers<typeof CatalogService>>,
  address = '127.0.0.1:0',
): Promise<RpcServer> {
  const all = { listEvents: () => neverCalled(), listDesigns: () => neverCalled(), ...handlers };
  const server = await serveRpc({
    services: [served(CatalogService, all as Handlers<typeof CatalogService>)],
    errorStatuses,
    logger: createLogger('test', 'info', (line) => lines.push(line)),
    address,
  });
  closing.push(() => server.stop(100));
  return server;
}

function neverCalled(): never {
  throw new Error('not expected here');
}

function clientOf(port: number, timeoutMs = 2_000, reads: readonly string[] = []) {
  const connection = connectRpc([CatalogService], { target: `127.0.0.1:${port}`, reads, timeoutMs });
  closing.push(() => connection.close());
  return connection.client(CatalogService);
}

test('a unary call brings its message, its authorization and its answer', async () => {
  const { port } = await catalog({
    listDesigns: async (request, call) => ({
      event: { id: request.eventId, name: call.authorization ?? '' },
      designs: [],
    }),
  });
  const answer = await clientOf(port).listDesigns({ eventId: 'e1' }, { authorization: 'Bearer t' });
  expect(answer.event).toMatchObject({ id: 'e1', name: 'Bearer t' });
});

test('a stream longer than any window arrives whole and in order', async () => {
  const name = 'x'.repeat(1_000);
  const { port } = await catalog({
    listEvents: async function* () {
      for (let part = 0; part < 40; part++) {
        yield {
          events: Array.from({ length: 100 }, (_, index) => ({
            id: `${part * 100 + index}`,
            name,
            designCount: 1,
          })),
        };
      }
    },
  });
  const parts = await clientOf(port).listEvents({});
  const ids = parts.flatMap((part) => part.events.map((event) => Number(event.id)));
  expect(ids).toEqual(Array.from({ length: 4_000 }, (_, index) => index));
});

test('request id, trace context and a shorter deadline travel with the call', async () => {
  let seen: { requestId: string | undefined; left: number; traceId: string | undefined } | undefined;
  const { port } = await catalog({
    listDesigns: async () => {
      const left = (deadlineOf() ?? 0) - Date.now();
      seen = { requestId: requestIdOf(), left, traceId: trace.getSpanContext(context.active())?.traceId };
      return {};
    },
  });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const incoming = propagation.extract(ROOT_CONTEXT, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
  await context.with(withCall(incoming, 'request-0042', Date.now() + 1_000), () =>
    clientOf(port).listDesigns({ eventId: '' }),
  );
  expect(seen).toMatchObject({ requestId: 'request-0042', traceId });
  expect(seen?.left).toBeGreaterThan(0);
  expect(seen?.left).toBeLessThanOrEqual(950);
});

test('a failure keeps its code across the wire; an unforeseen error becomes server_error without its text', async () => {
  const { port } = await catalog({
    listDesigns: async ({ eventId }) => {
      throw eventId === 'known' ? new Failure('not_found') : new Error('canary in a message');
    },
  });
  const client = clientOf(port);
  await expect(client.listDesigns({ eventId: 'known' })).rejects.toMatchObject({ code: 'not_found' });
  const unforeseen = await client.listDesigns({ eventId: 'other' }).catch((error: Failure) => error);
  expect(unforeseen).toMatchObject({ code: 'server_error' });
  expect(JSON.stringify(unforeseen)).not.toContain('canary');
  expect(lines.join()).toContain('unforeseen error');
  expect(lines.join()).not.toContain('canary');
});

test('a call that nobody answers is temporarily_unavailable within its time (R14)', async () => {
  const { port } = await catalog({ listDesigns: () => new Promise(() => {}) });
  const begun = performance.now();
  await expect(clientOf(port, 300).listDesigns({ eventId: '' })).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
  expect(performance.now() - begun).toBeLessThan(2_000);
  await expect(clientOf(1, 300).listDesigns({ eventId: '' })).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
});

test('a failure that a service answered is not retried, not even for a read', async () => {
  let calls = 0;
  const { port } = await catalog({
    listDesigns: async () => {
      calls += 1;
      throw new Failure('temporarily_unavailable');
    },
  });
  await expect(clientOf(port, 2_000, ['listDesigns']).listDesigns({ eventId: '' })).rejects.toThrow();
  expect(calls).toBe(1);
});

test('a request over the size limit is refused before the handler sees it', async () => {
  const { port } = await catalog({ listDesigns: async () => neverCalled() });
  await expect(clientOf(port).listDesigns({ eventId: 'x'.repeat(300 * 1024) })).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
});

test('stop lets a call in progress finish', async () => {
  let release = (): void => {};
  const begun = new Promise<void>((resolve) => {
    release = resolve;
  });
  let entered = (): void => {};
  const inside = new Promise<void>((resolve) => {
    entered = resolve;
  });
  const server = await catalog({
    listDesigns: async () => {
      entered();
      await begun;
      return { event: create(CatalogService.method.listDesigns.output, {}).event ?? { id: 'late' } };
    },
  });
  const answer = clientOf(server.port).listDesigns({ eventId: '' });
  await inside;
  const stopped = server.stop(5_000);
  release();
  expect((await answer).event?.id).toBe('late');
  await stopped;
});

test('a client finds its server again after a restart, without help', async () => {
  const first = await catalog({ listDesigns: async () => ({ event: { id: 'first' } }) });
  const client = clientOf(first.port);
  await client.listDesigns({ eventId: '' });
  await first.stop(0);
  await expect(client.listDesigns({ eventId: '' })).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
  await catalog({ listDesigns: async () => ({ event: { id: 'second' } }) }, `127.0.0.1:${first.port}`);
  await expect
    .poll(
      () =>
        client.listDesigns({ eventId: '' }).then(
          (answer) => answer.event?.id,
          () => 'down',
        ),
      { timeout: 4_000 },
    )
    .toBe('second');
});

test('two services share one connection', async () => {
  const server = await serveRpc({
    services: [
      served(DiscoveryService, {
        getDiscovery: async () => ({ issuer: 'i' }),
        getKeySet: async () => ({ keys: [] }),
      }),
    ],
    errorStatuses,
    logger: createLogger('test', 'error', () => {}),
    address: '127.0.0.1:0',
  });
  closing.push(() => server.stop(100));
  const connection = connectRpc([DiscoveryService, CatalogService], {
    target: `127.0.0.1:${server.port}`,
    reads: ['getDiscovery'],
    timeoutMs: 1_000,
  });
  closing.push(() => connection.close());
  expect((await connection.client(DiscoveryService).getDiscovery({})).issuer).toBe('i');
  await expect(connection.client(CatalogService).listDesigns({})).rejects.toMatchObject({
    code: 'server_error',
  });
});
