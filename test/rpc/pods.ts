// Servers and clients for the tests of the wire between services; they end with their test.
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { serviceErrorStatuses } from '@course-exchange/rules/error-codes';
import { connectRpc, type RpcClientOptions } from '@course-exchange/runtime/grpc/client';
import type { IncomingCall } from '@course-exchange/runtime/grpc/incoming-call';
import {
  bindService,
  type Handlers,
  type RpcServerOptions,
  serveRpc,
} from '@course-exchange/runtime/grpc/server';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { carryContextAcrossAwaits } from '@course-exchange/runtime/process/request-context';
import { beforeAll, onTestFinished, vi } from 'vitest';
import { joinLink, type Link } from '../support/tcp-link.ts';

type PodHandlers = Handlers<typeof TokenService> & Pick<Handlers<typeof CatalogService>, 'listEvents'>;

beforeAll(carryContextAcrossAwaits);

export type Pod = Awaited<ReturnType<typeof pod>>;

export async function pod(handlers: Partial<PodHandlers> = {}, more: Partial<RpcServerOptions> = {}) {
  const { listEvents = async function* () {}, getUserInfo = async () => ({}) } = handlers;
  const exchangeToken = vi.fn(handlers.exchangeToken ?? (async () => ({})));
  const server = await serveRpc({
    services: [
      bindService(TokenService, { exchangeToken, getUserInfo }),
      bindService(CatalogService, { listEvents, listDesigns: async function* () {} }),
    ],
    errorStatuses: serviceErrorStatuses,
    logger: createLogger('test', 'error', () => {}),
    address: '127.0.0.1:0',
    ...more,
  });
  onTestFinished(() => server.stop(100));
  /** `calls`: those that reached its handlers. */
  return { ...server, calls: () => exchangeToken.mock.calls.length };
}

export function client(ports: readonly number[], options: Partial<RpcClientOptions> = {}) {
  const target = `ipv4:${ports.map((port) => `127.0.0.1:${port}`).join(',')}`;
  const plain = { target, timeoutMs: 20_000, streams: true };
  const connection = connectRpc([TokenService, CatalogService], { ...plain, ...options });
  onTestFinished(connection.close);
  return { ...connection.client(TokenService), ...connection.client(CatalogService) };
}

/** A handler that keeps its calls until they are released. */
export function gate(accessToken = 'late') {
  const held: IncomingCall[] = [];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const hold = async (_request: unknown, call: IncomingCall) => {
    held.push(call);
    await released;
    return { accessToken };
  };
  return { held, hold, release };
}

/** Connections to a pod that can be cut, as by its end, or silent, as when it hangs. */
export async function cuttable(port: number): Promise<Link> {
  const link = await joinLink(port);
  onTestFinished(link.cut);
  return link;
}
