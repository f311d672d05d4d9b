// Calls protobuf-es services over grpc-js: propagates request id, trace context and deadline, balances over a headless
// Service's addresses, abandons a server that hangs, retries what the .proto calls free of side effects or idempotent.
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  DescMethod,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel } from '@bufbuild/protobuf/wkt';
import { timeBudget } from '@course-exchange/rules/time-budget';
import {
  ChannelCredentials,
  type ChannelOptions,
  Client,
  connectivityState,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { context, propagation, SpanKind } from '@opentelemetry/api';
import { Overloaded } from '../process/errors.ts';
import { logText } from '../process/logger.ts';
import { currentCall } from '../process/request-context.ts';
import { annotate, inSpan } from '../process/spans.ts';
import { carriedSender, openCallStreams } from './call-streams.ts';
import { type MessageInit, methodDefinition, methodPath, type OnMessage, type Send } from './methods.ts';
import { fromStatus } from './status.ts';

export interface OutgoingCall {
  /** Sent as `authorization` metadata. Secret. */
  readonly bearer?: string | undefined;
}

/** A server-streaming method collects its messages. Throws `Failure` only. */
export type RpcClient<S extends DescService> = {
  readonly [M in keyof S['method']]: S['method'][M] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageInitShape<I>, call?: OutgoingCall) => Promise<MessageShape<O>>
    : S['method'][M] extends DescMethodServerStreaming<infer I, infer O>
      ? (
          request: MessageInitShape<I>,
          call?: OutgoingCall,
          /** May throw, which ends the call. */
          onMessage?: (message: MessageShape<O>) => void,
        ) => Promise<MessageShape<O>[]>
      : never;
};

export interface RpcClientOptions {
  /** `dns:///identity:7001` for a headless Service, or `127.0.0.1:7001`. */
  readonly target: string;
  /** Longest time of a call without a nearer deadline, in milliseconds. */
  readonly timeoutMs: number;
  /** Calls share a few long-lived streams (decision 0028). */
  readonly streams?: boolean;
  /** Plaintext if absent. */
  readonly credentials?: ChannelCredentials | undefined;
}

export function connectRpc(services: readonly DescService[], options: RpcClientOptions) {
  const credentials = options.credentials ?? ChannelCredentials.createInsecure();
  const open = (): Client => {
    const client = new Client(options.target, credentials, channelOptions(services, options));
    // Connects now, so that the first call need not wait for it.
    client.getChannel().getConnectivityState(true);
    return client;
  };
  let [channel, replacedAt] = [open(), 0];
  const current = () => channel;
  // A server that hangs keeps its connections, and its name may resolve elsewhere by now.
  const replace = (silent: Client): void => {
    if (silent !== channel || Date.now() - replacedAt < replacePauseMs) return;
    replacedAt = Date.now();
    channel = open();
    silent.close();
  };
  const streams = options.streams ? openCallStreams({ target: options.target, current, replace }) : undefined;
  return {
    client: <S extends DescService>(service: S): RpcClient<S> => {
      const methods = service.methods.map((method) => {
        const alone = sender(current, method);
        const send = streams ? carriedSender(streams.ask, method, isRetryable(method), alone) : alone;
        return [method.localName, caller(send, method, options.timeoutMs)];
      });
      return Object.fromEntries(methods);
    },
    /** Resolves when the first connection is open, or after `timeoutMs` without one. */
    reached: (timeoutMs: number) => firstConnection(current, timeoutMs),
    close: () => {
      streams?.close();
      channel.close();
    },
  };
}

/** Milliseconds: each replaced channel leaves a socket at a server that hangs. */
const replacePauseMs = 5_000;
const pollIntervalMs = 250;

/** The channel's own wait misses a name that was unknown at first. */
async function firstConnection(channel: () => Client, timeoutMs: number): Promise<void> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; ) {
    const state = channel().getChannel().getConnectivityState(true);
    if (state === connectivityState.READY || state === connectivityState.SHUTDOWN) return;
    await sleep(pollIntervalMs, undefined, { ref: false });
  }
}

/** After a lost connection: another method may have consumed a grant or counted a login. */
function isRetryable({ idempotency }: DescMethod): boolean {
  return idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
}

function channelOptions(services: readonly DescService[], { streams }: RpcClientOptions): ChannelOptions {
  const name = services
    .flatMap(({ methods }) => methods.filter(isRetryable))
    .map((method) => ({ service: method.parent.typeName, method: method.name }));
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
    'grpc.dns_min_time_between_resolutions_ms': 1000,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1000,
    // A new channel makes its own connections.
    'grpc.use_local_subchannel_pool': 1,
    // Streams probe. A ping after a GOAWAY drops calls that the server still answers (grpc/grpc-node#3068).
    ...(streams ? {} : { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 5_000 }),
    'grpc.enable_channelz': 0,
    // A call between services never goes to a proxy, whatever the environment says.
    'grpc.enable_http_proxy': 0,
  };
}

function caller(send: Send, method: DescMethod, timeoutMs: number) {
  const path = methodPath(method);
  const attributes = { 'rpc.system.name': logText('grpc'), 'rpc.method': logText(path.slice(1)) };
  return (request: MessageInit, call: OutgoingCall = {}, onMessage?: OnMessage): Promise<unknown> =>
    inSpan(path.slice(1), SpanKind.CLIENT, attributes, async () => {
      const deadline = Math.min(Date.now() + timeoutMs, currentCall().deadline - timeBudget.hop);
      const left = deadline - Date.now();
      if (left <= 0) throw new Overloaded('deadline');
      annotate(() => ({ 'course_exchange.deadline.left_ms': left }));
      return send(request, outgoingMetadata(call), deadline, onMessage);
    });
}

function outgoingMetadata({ bearer }: OutgoingCall): Record<string, string> {
  const metadata: Record<string, string> = {};
  if (bearer !== undefined) metadata.authorization = `Bearer ${bearer}`;
  const { requestId, clientAddress } = currentCall();
  if (requestId !== '') metadata['x-request-id'] = requestId;
  if (clientAddress !== '') metadata['x-client-address'] = clientAddress;
  propagation.inject(context.active(), metadata);
  return metadata;
}

function sender(channel: () => Client, method: DescMethod): Send {
  const { path, requestSerialize, responseDeserialize, responseStream } = methodDefinition(method);
  return (request, headers, deadline, onMessage) => {
    const metadata = new Metadata();
    for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
    const call = [path, requestSerialize, responseDeserialize, request, metadata, { deadline }] as const;
    return new Promise<unknown>((resolve, reject) => {
      if (!responseStream) {
        const answered = (error: ServiceError | null, response: unknown) =>
          error ? reject(fromStatus(error)) : resolve(response);
        channel().makeUnaryRequest(...call, answered);
        return;
      }
      const messages: unknown[] = [];
      const stream = channel().makeServerStreamRequest(...call);
      stream
        .on('data', (message) => {
          try {
            onMessage?.(message);
            messages.push(message);
          } catch (error) {
            reject(error);
            stream.cancel();
          }
        })
        .on('error', (error) => reject(fromStatus(error)))
        .on('end', () => resolve(messages));
    });
  };
}
