import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { errorStatuses } from '@course-exchange/rules/error-codes';
import { connectRpc } from '@course-exchange/runtime/grpc/client';
import { bindService, type Handlers, type RpcServer, serveRpc } from '@course-exchange/runtime/grpc/server';
import { Failure } from '@course-exchange/runtime/process/errors';
import { createLogger } from '@course-exchange/runtime/process/logger';
import {
  clientAddressOf,
  deadlineOf,
  nameSubject,
  requestIdOf,
  subjectOf,
  withCall,
} from '@course-exchange/runtime/process/request-context';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { ownStopwatch } from '../support/own-time.ts';

const closing: (() => Promise<void> | void)[] = [];
const lines: string[] = [];

beforeAll(async () => {
  await startTelemetry('test', {
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_TRACES_SAMPLER_ARG: 1,
  });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  lines.length = 0;
});

async function serve(
  handlers: Partial<Handlers<typeof TokenService> & Handlers<typeof CatalogService>>,
  address = '127.0.0.1:0',
): Promise<RpcServer> {
  const services = [TokenService, CatalogService];
  const server = await serveRpc({
    services: services.map((service) => bindService(service, handlers as Handlers<typeof service>)),
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

/** Who does not wait for the end of its time has more than a machine stands still. */
function clientOf(port: number, timeoutMs = 20_000, reads: readonly string[] = []) {
  const services = [TokenService, CatalogService];
  const connection = connectRpc(services, { target: `127.0.0.1:${port}`, reads, timeoutMs, streams: true });
  closing.push(() => connection.close());
  return { ...connection.client(TokenService), ...connection.client(CatalogService) };
}

test('a unary call brings its message, its authorization and its answer', async () => {
  const { port } = await serve({
    exchangeToken: async ({ code }, { authorization }) => ({
      accessToken: JSON.stringify([code, authorization]),
    }),
  });
  const answer = await clientOf(port).exchangeToken({ code: 'c1' }, { authorization: 'Bearer t' });
  expect(answer.accessToken).toBe('["c1","Bearer t"]');
});

test('a stream longer than any window arrives whole and in order', async () => {
  const bytes = Buffer.alloc(
    4_000_000,
    Uint8Array.from({ length: 251 }, (_, index) => index),
  );
  const { port } = await serve({
    listEvents: async function* () {
      for (let part = 0; part < 40; part++) {
        yield { body: bytes.subarray(part * 100_000, (part + 1) * 100_000) };
      }
    },
  });
  const parts = await clientOf(port).listEvents({});
  expect(parts).toHaveLength(40);
  expect(Buffer.concat(parts.map(({ body }) => body)).equals(bytes)).toBe(true);
});

test('request id, address, trace context and a shorter deadline travel with the call', async () => {
  let seen: Readonly<Record<'requestId' | 'left' | 'traceId' | 'address', unknown>> | undefined;
  const { port } = await serve({
    exchangeToken: async () => {
      const left = (deadlineOf() ?? 0) - Date.now();
      const traceId = trace.getSpanContext(context.active())?.traceId;
      seen = { requestId: requestIdOf(), left, traceId, address: clientAddressOf() };
      return {};
    },
  });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const incoming = propagation.extract(ROOT_CONTEXT, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
  await context.with(withCall(incoming, 'request-0042', Date.now() + 10_000, '192.0.2.7'), () =>
    clientOf(port).exchangeToken({ code: '' }),
  );
  expect(seen).toMatchObject({ requestId: 'request-0042', traceId, address: '192.0.2.7' });
  expect(seen?.left).toBeGreaterThan(0);
  expect(seen?.left).toBeLessThanOrEqual(9_950);
});

test('an answer, a list and a refusal tell whose request it was and of which client, for the line of the caller', async () => {
  const { port } = await serve({
    exchangeToken: async ({ code }) => {
      nameSubject({ user: code, client: 'partner' });
      if (code === 'refused') throw new Failure('invalid_grant');
      return {};
    },
    listEvents: async function* () {
      nameSubject({ user: 'lister', client: 'partner' });
      yield {};
    },
  });
  const client = clientOf(port);
  const told = async (ask: () => Promise<unknown>) => {
    const asked = withCall(ROOT_CONTEXT, 'request-0042', Date.now() + 20_000);
    await context.with(asked, ask).catch(() => {});
    return subjectOf(asked);
  };
  for (const code of ['answered', 'refused'])
    expect(await told(() => client.exchangeToken({ code }))).toEqual({ user: code, client: 'partner' });
  expect(await told(() => client.listEvents({}))).toEqual({ user: 'lister', client: 'partner' });
});

test('a failure keeps its code across the wire; an unforeseen error becomes server_error without its text', async () => {
  const { port } = await serve({
    exchangeToken: async ({ code }) => {
      throw code === 'known' ? new Failure('not_found') : new Error('canary in a message');
    },
  });
  const client = clientOf(port);
  await expect(client.exchangeToken({ code: 'known' })).rejects.toMatchObject({ code: 'not_found' });
  const unforeseen = await client.exchangeToken({ code: 'other' }).catch((error: Failure) => error);
  expect(unforeseen).toMatchObject({ code: 'server_error' });
  expect(JSON.stringify(unforeseen)).not.toContain('canary');
  expect(lines.join()).toContain('unforeseen error');
  expect(lines.join()).not.toContain('canary');
});

test('a call that nobody answers is temporarily_unavailable within its time (R14)', async () => {
  const { port } = await serve({ exchangeToken: () => new Promise(() => {}) });
  const elapsed = ownStopwatch();
  await expect(clientOf(port, 300).exchangeToken({ code: '' })).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
  expect(elapsed()).toBeLessThan(2_000);
  await expect(clientOf(1, 300).exchangeToken({ code: '' })).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
});

test('a failure that a service answered is not retried, not even for a read', async () => {
  let called = 0;
  const { port } = await serve({
    exchangeToken: async () => {
      called += 1;
      throw new Failure('temporarily_unavailable');
    },
  });
  await expect(clientOf(port, 20_000, ['exchangeToken']).exchangeToken({ code: '' })).rejects.toThrow();
  expect(called).toBe(1);
});

test('a request over the size limit is refused before the handler sees it, for good [R14.8]', async () => {
  const { port } = await serve({ exchangeToken: async () => neverCalled() });
  await expect(clientOf(port).exchangeToken({ code: 'x'.repeat(300 * 1024) })).rejects.toMatchObject({
    code: 'server_error',
  });
});

test('an answer over the size limit can never be given: it is a server_error [R14.8]', async () => {
  const { port } = await serve({ exchangeToken: async () => ({ accessToken: 'x'.repeat(5 << 20) }) });
  await expect(clientOf(port).exchangeToken({ code: '' })).rejects.toMatchObject({
    code: 'server_error',
  });
});

test('stop lets a call in progress finish', async () => {
  const [entered, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = await serve({
    exchangeToken: async () => {
      entered.resolve();
      await released.promise;
      return { accessToken: 'late' };
    },
  });
  const answer = clientOf(server.port).exchangeToken({ code: '' });
  await entered.promise;
  const stopped = server.stop(5_000);
  released.resolve();
  expect((await answer).accessToken).toBe('late');
  await stopped;
});

test('a client finds its server again after a restart, without help', async () => {
  const first = await serve({ exchangeToken: async () => ({ accessToken: 'first' }) });
  const client = clientOf(first.port, 4_000);
  await client.exchangeToken({ code: '' });
  await first.stop(0);
  await expect(client.exchangeToken({ code: '' })).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
  await serve({ exchangeToken: async () => ({ accessToken: 'second' }) }, `127.0.0.1:${first.port}`);
  await expect
    .poll(
      () =>
        client.exchangeToken({ code: '' }).then(
          ({ accessToken }) => accessToken,
          () => 'down',
        ),
      { timeout: 30_000 },
    )
    .toBe('second');
});

test('two services share one connection', async () => {
  const server = await serveRpc({
    services: [
      bindService(DiscoveryService, {
        getDiscovery: async () => ({ issuer: 'i' }),
        getKeySet: async () => ({ jwks: '{"keys":[]}' }),
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
    timeoutMs: 20_000,
    streams: true,
  });
  closing.push(() => connection.close());
  expect((await connection.client(DiscoveryService).getDiscovery({})).issuer).toBe('i');
  await expect(connection.client(CatalogService).listDesigns({})).rejects.toMatchObject({
    code: 'server_error',
  });
});
