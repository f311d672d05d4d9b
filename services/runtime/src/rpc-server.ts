// Serves protobuf-es services over grpc-js: request id, trace, deadline and span for every call in one
// place, errors as codes, draining stop.

import { randomUUID } from 'node:crypto';
import type {
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import {
  type Metadata,
  Server,
  ServerCredentials,
  type ServerOptions,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { context, propagation, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { isWellFormedRequestId, withCall } from './call-context.ts';
import { Failure } from './failure.ts';
import { describeError, type Logger, logText } from './logger.ts';
import { type ErrorStatuses, toStatus } from './rpc-errors.ts';
import { methodDefinition, methodPath, methodsOf } from './rpc-methods.ts';
import { inSpan } from './telemetry.ts';

/** What a handler may know of its call besides the message. */
export interface IncomingCall {
  /** The `authorization` metadata, whole; undefined when absent. Secret. */
  readonly authorization: string | undefined;
  /** First value of one metadata entry; undefined when absent. */
  readonly metadata: (name: string) => string | undefined;
  /** The common name of the certificate that the caller showed and the server checked; undefined without mTLS. */
  readonly peerName: string | undefined;
  /** Aborts when the caller is gone or its deadline has passed. */
  readonly signal: AbortSignal;
}

/**
 * One function per method; server-streaming methods return an async iterable, client-streaming ones are given
 * one. What comes in is read no faster than the handler takes it: flow control holds the sender back.
 */
export type Handlers<S extends DescService> = {
  readonly [M in keyof S['method']]: S['method'][M] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, call: IncomingCall) => Promise<MessageInitShape<O>>
    : S['method'][M] extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, call: IncomingCall) => AsyncIterable<MessageInitShape<O>>
      : S['method'][M] extends DescMethodClientStreaming<infer I, infer O>
        ? (requests: AsyncIterable<MessageShape<I>>, call: IncomingCall) => Promise<MessageInitShape<O>>
        : never;
};

export interface ServedService {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, unknown>>;
}

/** Pairs a service with its handlers; checks the types. */
export function served<S extends DescService>(service: S, handlers: Handlers<S>): ServedService {
  return { service, handlers: handlers as Readonly<Record<string, unknown>> };
}

export interface RpcServerOptions {
  readonly services: readonly ServedService[];
  readonly errorStatuses: ErrorStatuses;
  /** Tells callers the sentences of a DetailedFailure. Never where a partner may reach. */
  readonly sendDetails?: boolean;
  readonly logger: Logger;
  /** `0.0.0.0:7001`; port 0 lets the system choose. */
  readonly address: string;
  /** Milliseconds after which a client must connect anew, so that new pods get traffic. */
  readonly maxConnectionAgeMs?: number;
  readonly credentials?: ServerCredentials;
  /** Largest request in bytes. */
  readonly maxRequestBytes?: number;
}

export interface RpcServer {
  readonly port: number;
  /** Stops accepting, waits for calls in progress, ends them after `timeoutMs`. */
  readonly stop: (timeoutMs: number) => Promise<void>;
}

/** Deadline of a call that brought none, in milliseconds. */
const defaultDeadlineMs = 5_000;

export async function serveRpc(options: RpcServerOptions): Promise<RpcServer> {
  const server = new Server(serverOptions(options));
  for (const { service, handlers } of options.services) {
    const definition: Record<string, ReturnType<typeof methodDefinition>> = {};
    const implementation: UntypedServiceImplementation = {};
    for (const method of methodsOf(service)) {
      const handler = handlers[method.localName] as (request: unknown, call: IncomingCall) => never;
      definition[method.localName] = methodDefinition(method);
      implementation[method.localName] =
        method.methodKind === 'server_streaming'
          ? streamingHandler(methodPath(method), handler, options)
          : answeringHandler(methodPath(method), handler, options);
    }
    server.addService(definition, implementation);
  }
  const port = await bind(server, options);
  return { port, stop: (timeoutMs) => drain(server, timeoutMs) };
}

function serverOptions(options: RpcServerOptions): ServerOptions {
  return {
    'grpc.max_receive_message_length': options.maxRequestBytes ?? 256 * 1024,
    'grpc.enable_channelz': 0,
    ...(options.maxConnectionAgeMs === undefined
      ? {}
      : {
          'grpc.max_connection_age_ms': options.maxConnectionAgeMs,
          'grpc.max_connection_age_grace_ms': 15_000,
        }),
  };
}

function bind(server: Server, options: RpcServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const credentials = options.credentials ?? ServerCredentials.createInsecure();
    server.bindAsync(options.address, credentials, (error, port) => (error ? reject(error) : resolve(port)));
  });
}

function drain(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, timeoutMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Calls that one message answers. */
type AnsweredCall = ServerUnaryCall<unknown, unknown> | ServerReadableStream<unknown, unknown>;
type AnyCall = AnsweredCall | ServerWritableStream<unknown, unknown>;

/** Unary and client-streaming: in the latter the call itself is the stream of messages. */
function answeringHandler(
  path: string,
  handler: (request: unknown, call: IncomingCall) => Promise<unknown>,
  options: RpcServerOptions,
) {
  return (call: AnsweredCall, callback: sendUnaryData<unknown>): void => {
    const asked = 'request' in call ? call.request : messagesOf(call);
    inCall(path, call, options, () => handler(asked, incomingCall(call))).then(
      (response) => callback(null, response),
      (error) => {
        callback(toStatus(error, options.errorStatuses, options.sendDetails ?? false));
      },
    );
  };
}

/** A caller that goes away is no fault of ours; its stream ends as one that was not answered. */
async function* messagesOf(call: ServerReadableStream<unknown, unknown>): AsyncGenerator<unknown> {
  try {
    yield* call;
  } catch (error) {
    throw call.cancelled ? new Failure('temporarily_unavailable', 'the caller has gone') : error;
  }
}

function streamingHandler(
  path: string,
  handler: (request: unknown, call: IncomingCall) => AsyncIterable<unknown>,
  options: RpcServerOptions,
) {
  return (call: ServerWritableStream<unknown, unknown>): void => {
    inCall(path, call, options, () => writeAll(call, handler(call.request, incomingCall(call)))).then(
      () => call.end(),
      (error) => {
        call.emit('error', toStatus(error, options.errorStatuses, options.sendDetails ?? false));
      },
    );
  };
}

async function writeAll(
  call: ServerWritableStream<unknown, unknown>,
  messages: AsyncIterable<unknown>,
): Promise<void> {
  for await (const message of messages) {
    if (call.cancelled) return;
    if (call.write(message)) continue;
    await new Promise<void>((resolve) => {
      call.once('drain', resolve);
      call.once('cancelled', resolve);
    });
  }
}

function inCall<T>(
  path: string,
  call: AnyCall,
  options: RpcServerOptions,
  work: () => Promise<T>,
): Promise<T> {
  const carrier = propagation.extract(ROOT_CONTEXT, call.metadata, {
    get: (metadata: Metadata, key) => metadata.get(key).map(String),
    keys: (metadata: Metadata) => Object.keys(metadata.getMap()),
  });
  const sentId = call.metadata.get('x-request-id')[0]?.toString();
  const requestId = isWellFormedRequestId(sentId) ? sentId : randomUUID();
  const active = withCall(carrier, requestId, deadlineOfCall(call));
  const attributes = {
    'rpc.system.name': 'grpc',
    'rpc.method': path.slice(1),
    'course_exchange.request_id': requestId,
  };
  return context.with(active, () =>
    inSpan(path.slice(1), SpanKind.SERVER, attributes, () => reporting(path, options, work)),
  );
}

function deadlineOfCall(call: AnyCall): number {
  const deadline = Number(call.getDeadline());
  return Number.isFinite(deadline) ? deadline : Date.now() + defaultDeadlineMs;
}

function incomingCall(call: AnyCall): IncomingCall {
  let abort: AbortController | undefined;
  return {
    authorization: call.metadata.get('authorization')[0]?.toString(),
    metadata: (name) => call.metadata.get(name)[0]?.toString(),
    get peerName() {
      return commonName(call.getAuthContext().sslPeerCertificate?.subject?.CN);
    },
    // Made when asked for: a call also counts as cancelled when it has ended, and an abort costs 10 µs.
    get signal() {
      if (abort !== undefined) return abort.signal;
      const made = new AbortController();
      abort = made;
      if (call.cancelled) made.abort();
      else (call as NodeJS.EventEmitter).once('cancelled', () => made.abort());
      return made.signal;
    },
  };
}

/** A certificate may name several; the first one is the caller's. */
function commonName(names: string | string[] | undefined): string | undefined {
  return typeof names === 'string' ? names : names?.[0];
}

/** Within the call, so that the line carries its request id and trace. */
async function reporting<T>(path: string, options: RpcServerOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    reportUnforeseen(path, error, options);
    throw error;
  }
}

function reportUnforeseen(path: string, error: unknown, { logger, errorStatuses }: RpcServerOptions): void {
  if (error instanceof Failure && errorStatuses[error.code] !== undefined) {
    if (error.cause !== undefined)
      logger.warn('call failed', {
        rpc: logText(path),
        code: logText(error.code),
        ...describeError(error.cause),
      });
    return;
  }
  logger.error('unforeseen error', { rpc: logText(path), ...describeError(error) });
}
