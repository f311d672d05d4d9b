// Typed clients of the operator's port and the feed's over connect-node's gRPC transport.
import { readFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import type { DescService } from '@bufbuild/protobuf';
import { type Client, ConnectError, createClient, type Interceptor } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { usageError } from '../cli/errors.ts';
import { type Address, type AddressSources, findAddress, type ServiceName } from './addresses.ts';

export interface ConnectionDeps extends AddressSources {
  /** For the audit log, unless a certificate names another. */
  readonly actor: string;
  readonly newRequestId: () => string;
  readonly signal: AbortSignal;
  /** Default for calls; a stream sets 0, which is no limit. */
  readonly timeoutMs: number;
}

export type Services = ReturnType<typeof openServices>;

export function openServices(deps: ConnectionDeps) {
  const open = new Map<ServiceName, ReturnType<typeof openTransport>>();
  const addressOf = (name: ServiceName) => findAddress(name, deps);
  let last: ServiceName = 'identity';
  const clientTo = <S extends DescService>(name: ServiceName, service: S): Client<S> => {
    last = name;
    const used = open.get(name) ?? openTransport(findAddress(name, deps), deps);
    open.set(name, used);
    return createClient(service, used.transport);
  };
  return {
    identity: <S extends DescService>(service: S) => clientTo('identity', service),
    catalog: <S extends DescService>(service: S) => clientTo('catalog', service),
    addressOf,
    lastAddress: () => addressOf(last).display,
    close: (): void => {
      // An idle session holds no process; abort would leave the error of one that just failed unhandled.
      for (const { sessionManager } of open.values())
        if (sessionManager.state() !== 'idle') sessionManager.abort();
    },
  };
}

/** Ends a call without a time limit when its server hangs (decision 0029). */
const keepalive = { pingIntervalMs: 10_000, pingTimeoutMs: 5_000 };

function openTransport({ url, socket }: Address, deps: ConnectionDeps) {
  const options =
    socket === undefined ? certificates(url, deps) : { createConnection: () => connectSocket(socket) };
  const sessionManager = new Http2SessionManager(url, keepalive, options);
  const transport = createGrpcTransport({
    baseUrl: url,
    sessionManager,
    defaultTimeoutMs: deps.timeoutMs,
    interceptors: [identification(deps), interruption(deps)],
  });
  return { transport, sessionManager };
}

function identification({ actor, newRequestId }: ConnectionDeps): Interceptor {
  return (next) => (request) => {
    request.header.set('x-operator', actor);
    request.header.set('x-request-id', newRequestId());
    return next(request);
  };
}

/** A session that is still connecting ignores the signal. */
function interruption({ signal }: ConnectionDeps): Interceptor {
  return (next) => (request) => {
    const { promise, reject } = Promise.withResolvers<never>();
    const end = AbortSignal.any([request.signal, signal]);
    const stop = (): void => reject(ConnectError.from(end.reason));
    if (end.aborted) stop();
    end.addEventListener('abort', stop, { once: true });
    return Promise.race([promise, next(request)]);
  };
}

/** For mutual TLS: the certificate's name is the actor. */
function certificates(url: string, { environment }: AddressSources) {
  if (!url.startsWith('https://')) return {};
  const read = (variable: string): Buffer => {
    try {
      return readFileSync(environment[variable] ?? '');
    } catch {
      throw usageError(`${variable} must name a readable PEM file for ${url}.`);
    }
  };
  return {
    cert: read('PARTNERCTL_TLS_CERT'),
    key: read('PARTNERCTL_TLS_KEY'),
    ca: read('PARTNERCTL_TLS_CA'),
  };
}

/** The pages of a list, each as it is read, until no token follows. */
export async function* pagesOf<Page extends { readonly nextPageToken: string }>(
  read: (pageToken: string) => Promise<Page>,
): AsyncGenerator<Page> {
  let pageToken = '';
  do {
    const page = await read(pageToken);
    yield page;
    pageToken = page.nextPageToken;
  } while (pageToken);
}
