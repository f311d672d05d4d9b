// Typed clients of the operator's port and the feed's over connect-node's gRPC transport. A connection is opened with
// the first call that needs it.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  type SecureClientSessionOptions,
} from 'node:http2';
import { connect as connectSocket } from 'node:net';
import type { DescService } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect';
import { createGrpcTransport, type GrpcTransportOptions } from '@connectrpc/connect-node';
import { usageError } from '../cli/errors.ts';
import { type Address, type AddressSources, findAddress, type ServiceName } from './addresses.ts';

export interface ConnectionDeps {
  readonly sources: AddressSources;
  /** The account that runs the tool; the service writes it into the audit log unless a certificate names another. */
  readonly actor: string;
  /** Makes one request id per call. */
  readonly newRequestId: () => string;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Of a call that sets no limit of its own, in milliseconds; a stream sets 0, which is none. */
  readonly timeoutMs: number;
}

export type Services = ReturnType<typeof openServices>;

export function openServices(deps: ConnectionDeps) {
  const open = new Map<ServiceName, ReturnType<typeof openTransport>>();
  /** A service's address and where it was found, for people. */
  const addressOf = (name: ServiceName) => findAddress(name, deps.sources).display;
  let last: ServiceName = 'identity';
  const clientTo = <S extends DescService>(name: ServiceName, service: S): Client<S> => {
    last = name;
    const used = open.get(name) ?? openTransport(findAddress(name, deps.sources), deps);
    open.set(name, used);
    return createClient(service, used.transport);
  };
  return {
    identity: <S extends DescService>(service: S) => clientTo('identity', service),
    catalog: <S extends DescService>(service: S) => clientTo('catalog', service),
    addressOf,
    /** The address of the service that was asked for last. */
    lastAddress: () => addressOf(last),
    close: (): void => {
      for (const { sessions } of open.values()) sessions.abort();
    },
  };
}

function openTransport({ url, socket }: Address, deps: ConnectionDeps) {
  const options =
    socket === undefined
      ? certificates(url, deps.sources.environment)
      : { createConnection: () => connectSocket(socket) };
  const sessions = openSessions(url, options);
  const transport = createGrpcTransport({
    baseUrl: url,
    sessionManager: sessions,
    defaultTimeoutMs: deps.timeoutMs,
    interceptors: [identification(deps), leaving(deps)],
  });
  return { transport, sessions };
}

/** Who calls, and the id under which the service logs and audits it. */
function identification({ actor, newRequestId }: ConnectionDeps): Interceptor {
  return (next) => (request) => {
    request.header.set('x-operator', actor);
    request.header.set('x-request-id', newRequestId());
    return next(request);
  };
}

/** A session that is still connecting hears no signal: at its end a call is left rather than only aborted. */
function leaving({ signal }: ConnectionDeps): Interceptor {
  return (next) => (request) => {
    const { promise, reject } = Promise.withResolvers<never>();
    const end = AbortSignal.any([request.signal, signal]);
    const leave = (): void => reject(ConnectError.from(end.reason));
    if (end.aborted) leave();
    end.addEventListener('abort', leave, { once: true });
    return Promise.race([promise, next(request)]);
  };
}

/** For mutual TLS: the certificate's name is the actor. */
function certificates(url: string, environment: AddressSources['environment']) {
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

type Sessions = NonNullable<GrpcTransportOptions['sessionManager']> & { readonly abort: () => void };

/**
 * One session, and a new one when the service has closed it. connect-node's own manager hears only the first error of a
 * session: at a port that speaks something else the second one would end the process. Here errors go unheard, for the
 * calls report them.
 */
function openSessions(url: string, options: SecureClientSessionOptions): Sessions {
  let session: ClientHttp2Session | undefined;
  return {
    authority: new URL(url).origin,
    request: async (method, path, headers, more) => {
      if (!session || session.closed || session.destroyed)
        session = connectHttp2(url, options).on('error', () => {});
      const used = session;
      if (used.connecting)
        await once(used, 'connect').catch((cause) => {
          throw new ConnectError('no connection', Code.Unavailable, undefined, undefined, cause);
        });
      return used.request({ ...headers, ':method': method, ':path': path }, more);
    },
    notifyResponseByteRead: () => {},
    abort: () => session?.destroy(),
  };
}
