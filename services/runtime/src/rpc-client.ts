// Calls protobuf-es services over grpc-js: passes on request id, trace context and what is left of the
// deadline; balances over all addresses of a headless Service; retries only where the caller says "read".
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { ChannelCredentials, type ChannelOptions, Client, connectivityState, Metadata } from '@grpc/grpc-js';
import { context, propagation, SpanKind } from '@opentelemetry/api';
import { deadlineOf, requestIdOf } from './call-context.ts';
import { unavailable } from './failure.ts';
import { fromStatus } from './rpc-errors.ts';
import { methodDefinition, methodPath, methodsOf } from './rpc-methods.ts';
import { inSpan } from './telemetry.ts';

export interface OutgoingCall {
  /** Sent as `authorization` metadata. Secret. */
  readonly authorization?: string | undefined;
}

/** One function per method; a server-streaming method collects its messages. Throw `Failure` only. */
export type RpcClient<S extends DescService> = {
  readonly [M in keyof S['method']]: S['method'][M] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, call?: OutgoingCall) => Promise<MessageShape<O>>
    : S['method'][M] extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageInitShape<I>, call?: OutgoingCall) => Promise<MessageShape<O>[]>
      : never;
};

export interface RpcClientOptions {
  /** `dns:///identity:7001` for a headless Service, or `127.0.0.1:7001`. */
  readonly target: string;
  /** Local names of methods that are reads and may be retried after a lost connection. */
  readonly reads: readonly string[];
  /** Longest time a call may take when the request brings no nearer deadline, in milliseconds. */
  readonly timeoutMs: number;
  /** Plaintext without. */
  readonly credentials?: ChannelCredentials | undefined;
}

export interface RpcConnection {
  /** A typed client of `service` over this connection. */
  readonly client: <S extends DescService>(service: S) => RpcClient<S>;
  /** Resolves when the first connection stands, or after `timeoutMs` without one. */
  readonly reached: (timeoutMs: number) => Promise<void>;
  readonly close: () => void;
}

/** What a hop keeps for itself of the time left, in milliseconds. */
const hopMs = 50;

/**
 * Bytes. An answer above it would be refused however often it is asked for: 500 designs with texts of 100 KB each fit.
 * What lies behind a channel is our own and bounds its answers itself.
 */
const largestAnswer = 64 * 1024 * 1024;

/** Opens one channel for the `services`. */
export function connectRpc(services: readonly DescService[], options: RpcClientOptions): RpcConnection {
  const credentials = options.credentials ?? ChannelCredentials.createInsecure();
  const channel = new Client(options.target, credentials, channelOptions(services, options.reads));
  // Connects now: the first call of a new pod would wait for name, connection and handshake within its own deadline.
  channel.getChannel().getConnectivityState(true);
  return {
    client: (service) => {
      const methods = methodsOf(service).map((method) => [
        method.localName,
        caller(channel, method, options.timeoutMs),
      ]);
      return Object.fromEntries(methods);
    },
    reached: (timeoutMs) => firstConnection(channel, timeoutMs),
    close: () => channel.close(),
  };
}

/** Between two looks, in milliseconds. */
const lookPause = 250;

/** Asks again and again: the channel's own waiting sleeps on where the name of the target was unknown at first. */
async function firstConnection(channel: Client, timeoutMs: number): Promise<void> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; ) {
    const state = channel.getChannel().getConnectivityState(true);
    if (state === connectivityState.READY || state === connectivityState.SHUTDOWN) return;
    await sleep(lookPause, undefined, { ref: false });
  }
}

function channelOptions(services: readonly DescService[], reads: readonly string[]): ChannelOptions {
  const name = services.flatMap((service) =>
    methodsOf(service)
      .filter((method) => reads.includes(method.localName))
      .map((method) => ({ service: service.typeName, method: method.name })),
  );
  const retryPolicy = {
    maxAttempts: 3,
    initialBackoff: '0.050000000s',
    maxBackoff: '0.200000000s',
    backoffMultiplier: 2,
    retryableStatusCodes: ['UNAVAILABLE'],
  };
  return {
    'grpc.service_config': JSON.stringify({
      loadBalancingConfig: [{ round_robin: {} }],
      ...(name.length > 0 ? { methodConfig: [{ name, retryPolicy }] } : {}),
    }),
    'grpc-node.flow_control_window': 1 << 20,
    'grpc.max_receive_message_length': largestAnswer,
    'grpc.dns_min_time_between_resolutions_ms': 1000,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1000,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 5_000,
    'grpc.enable_channelz': 0,
  };
}

function caller(channel: Client, method: Parameters<typeof methodDefinition>[0], timeoutMs: number) {
  const definition = methodDefinition(method);
  const path = methodPath(method);
  const attributes = { 'rpc.system.name': 'grpc', 'rpc.method': path.slice(1) };
  const send = definition.responseStream ? sendStreaming : sendUnary;
  return (request: unknown, call: OutgoingCall = {}): Promise<unknown> =>
    inSpan(path.slice(1), SpanKind.CLIENT, attributes, async () => {
      const deadline = callDeadline(timeoutMs);
      if (deadline <= Date.now()) throw unavailable('deadline');
      return send(channel, definition, request, outgoingMetadata(call), deadline);
    });
}

function callDeadline(timeoutMs: number): number {
  const own = Date.now() + timeoutMs;
  const inherited = deadlineOf();
  return inherited === undefined ? own : Math.min(own, inherited - hopMs);
}

function outgoingMetadata({ authorization }: OutgoingCall): Metadata {
  const metadata = new Metadata();
  if (authorization !== undefined) metadata.set('authorization', authorization);
  const requestId = requestIdOf();
  if (requestId !== undefined) metadata.set('x-request-id', requestId);
  propagation.inject(context.active(), metadata, { set: (carrier, key, value) => carrier.set(key, value) });
  return metadata;
}

type Definition = ReturnType<typeof methodDefinition>;

function sendUnary(
  channel: Client,
  definition: Definition,
  request: unknown,
  metadata: Metadata,
  deadline: number,
) {
  return new Promise<unknown>((resolve, reject) => {
    channel.makeUnaryRequest(
      definition.path,
      definition.requestSerialize,
      definition.responseDeserialize,
      request,
      metadata,
      { deadline },
      (error, response) => (error ? reject(fromStatus(error)) : resolve(response)),
    );
  });
}

function sendStreaming(
  channel: Client,
  definition: Definition,
  request: unknown,
  metadata: Metadata,
  deadline: number,
) {
  return new Promise<unknown>((resolve, reject) => {
    const messages: unknown[] = [];
    channel
      .makeServerStreamRequest(
        definition.path,
        definition.requestSerialize,
        definition.responseDeserialize,
        request,
        metadata,
        { deadline },
      )
      .on('data', (message) => messages.push(message))
      .on('error', (error) => reject(fromStatus(error as never)))
      .on('end', () => resolve(messages));
  });
}
