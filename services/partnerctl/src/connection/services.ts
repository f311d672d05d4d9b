// connection/ is how a command reaches identity and design-catalog: addresses, certificates, and what an operator reads when a call
// fails.

// Typed clients of the operator's port and the feed's over connect-node's gRPC transport, and what an operator reads when
// a call fails.
import { readFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import type { DescService } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { CliError, type Exit, usageError } from '../output/errors.ts';
import { localTime } from '../output/table.ts';
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
  return (next) => async (request) => {
    const requestId = newRequestId();
    request.header.set('x-operator', actor);
    request.header.set('x-request-id', requestId);
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: named(response.message, requestId) } : response;
    } catch (error) {
      throw withRequestId(error, requestId);
    }
  };
}

async function* named<Message>(messages: AsyncIterable<Message>, requestId: string) {
  try {
    yield* messages;
  } catch (error) {
    throw withRequestId(error, requestId);
  }
}

function withRequestId(error: unknown, requestId: string): unknown {
  if (error instanceof ConnectError) error.metadata.set('x-request-id', requestId);
  return error;
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

/** The message is used if the service sends no sentence; `…` is the request id. */
type ErrorText = readonly [exit: Exit, message: string, advice?: string];

/** By the codes of services/rules/src/error-codes.ts; a test compares them. */
export const errorText: Readonly<Record<string, ErrorText>> = {
  invalid_argument: ['usage', 'The service rejects the input.'],
  not_found: ['missing', 'It does not exist.'],
  already_exists: ['conflict', 'It already exists.'],
  conflict: ['conflict', 'Somebody else changed it.', 'Check the present state, then repeat the command.'],
  permission_denied: ['refused', 'The service does not accept this operator.'],
  refused: ['refused', 'A rule forbids it in the present state.'],
  refused_until: ['early', 'It is too early for that.'],
  temporarily_unavailable: [
    'unreachable',
    'A store of the service does not answer.',
    'Repeat the command in a moment.',
  ],
  server_error: ['refused', 'The service failed.', 'Look for the request id … in its log.'],
};

/** `address`: of the service that was called. Other errors are returned unchanged. */
export function toCliError(cause: unknown, address: () => string): unknown {
  if (!(cause instanceof ConnectError)) return cause;
  const { metadata } = cause;
  const code = metadata.get('error-code') ?? '';
  const text = errorText[code];
  if (!text) return withoutAnswer(cause, address());
  const [exit, usual, usualAdvice] = text;
  const requestId = metadata.get('x-request-id') ?? undefined;
  const [message = usual, ...mistakes] = detailLines(metadata.get('error-detail') ?? '');
  const possibleAt = metadata.get('error-possible-at');
  const advice = possibleAt
    ? `Possible from ${localTime(new Date(possibleAt))} on.`
    : usualAdvice?.replace('…', requestId ?? '');
  return new CliError(exit, message, { advice, mistakes, code, requestId, cause });
}

function detailLines(detail: string): readonly string[] {
  try {
    return decodeURIComponent(detail).split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

function withoutAnswer(cause: ConnectError, address: string): CliError {
  const requestId = cause.metadata.get('x-request-id') ?? undefined;
  if (cause.code === Code.Unimplemented) {
    const advice = 'The service and partnerctl are of different versions.';
    return new CliError('refused', `The service at ${address} does not know this command.`, {
      advice,
      requestId,
      cause,
    });
  }
  const timedOut = cause.code === Code.DeadlineExceeded;
  return new CliError(
    'unreachable',
    timedOut ? `No answer in time from ${address}.` : `Nothing answers at ${address}.`,
    {
      advice: 'Start the service, or give its address with --identity, --catalog or --stack.',
      requestId,
      cause,
    },
  );
}
