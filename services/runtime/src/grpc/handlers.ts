// Adapts handlers to grpc-js: each call runs in the context of its request and in a span.
import { randomUUID } from 'node:crypto';
import type { DescMethod } from '@bufbuild/protobuf';
import {
  type ServerReadableStream,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { propagation, ROOT_CONTEXT, SpanKind, type TextMapGetter } from '@opentelemetry/api';
import { Failure, Overloaded } from '../process/errors.ts';
import { describeError, type Logger, logText } from '../process/logger.ts';
import { isWellFormedRequestId, withCall } from '../process/request-context.ts';
import { runtimeMetrics } from '../process/runtime-metrics.ts';
import type { SpanAttributes } from '../process/span-attributes.ts';
import { annotate, inSpan, recordError } from '../process/spans.ts';
import { type AnsweredCall, type IncomingCall, incomingCall } from './incoming-call.ts';
import { type Chunks, chunker, deserializer, lengthOf, type MessageInit, methodPath } from './methods.ts';
import { type ErrorStatuses, sentFailure, statusName, toStatus } from './status.ts';

export interface CallOptions {
  readonly errorStatuses: ErrorStatuses;
  /** Never on a port that partners reach. */
  readonly sendDetails?: boolean;
  /** Runs before each handler. Throws when the caller may not call `method`. */
  readonly authenticate?: ((call: IncomingCall, method: DescMethod) => void) | undefined;
  readonly logger: Logger;
}

/** Of any method: a message or, server-streaming, messages. As a method, it may ask for the request's own type. */
export type Handler = {
  answer(request: unknown, call: IncomingCall): Promise<MessageInit> | AsyncIterable<MessageInit>;
}['answer'];

/** Client-streaming: the call itself is the stream of messages. */
export function answeringHandler(method: DescMethod, handler: Handler, options: CallOptions) {
  const inCall = callContext(method, options);
  return (call: AnsweredCall, callback: sendUnaryData<unknown>): void => {
    const asked = 'request' in call ? call.request : messagesOf(call);
    const incoming = incomingCall(call);
    inCall(incoming, async () => handler(asked, incoming)).then(
      (response) => callback(null, response),
      (error) => callback(toStatus(error, options)),
    );
  };
}

/** A caller that disconnects is not our fault. */
async function* messagesOf(call: ServerReadableStream<unknown, unknown>): AsyncGenerator<unknown> {
  try {
    yield* call;
  } catch (error) {
    throw call.cancelled ? new Failure('temporarily_unavailable', 'the caller has gone') : error;
  }
}

export function streamingHandler(method: DescMethod, handler: Handler, options: CallOptions) {
  const inCall = callContext(method, options);
  return (call: ServerWritableStream<unknown, unknown>): void => {
    const incoming = incomingCall(call);
    inCall(incoming, () => writeAll(call, handler(call.request, incoming))).then(
      () => call.end(),
      (error) => call.emit('error', toStatus(error, options)),
    );
  };
}

async function writeAll(
  call: ServerWritableStream<unknown, unknown>,
  messages: Promise<MessageInit> | AsyncIterable<MessageInit>,
): Promise<void> {
  if (!(Symbol.asyncIterator in messages)) throw new Error('a streaming method gave one message');
  for await (const message of messages) {
    if (call.cancelled) return;
    if (call.write(message)) continue;
    await new Promise<void>((resolve) => {
      call.once('drain', resolve);
      call.once('cancelled', resolve);
    });
  }
}

/** Carried calls of one method in flight; more are refused before any work. */
const mostInFlight = 1_024;
/** Their running handlers, including those of cancelled and expired calls. */
const mostRunning = 4 * mostInFlight;
/** Bytes. A client refuses a message over 4 MiB. */
const largestAnswer = 3.5 * 1024 * 1024;

/**
 * For a call of a stream, unary or server-streaming. Gives the last message; `send` gives false once the call was cancelled.
 * The call is in flight until `over`. Throws `Failure`.
 */
export function carriedHandler(method: DescMethod, handler: Handler, options: CallOptions) {
  const [decode, chunksOf] = [deserializer(method.input), chunker(method.output)];
  const encode = (message: MessageInit): Chunks => {
    const bytes = chunksOf(message);
    if (lengthOf(bytes) > largestAnswer) throw new Error('an answer is larger than a client takes');
    return bytes;
  };
  const inCall = callContext(method, options);
  const labels = { 'rpc.method': methodPath(method).slice(1) };
  let [inFlight, running] = [0, 0];
  runtimeMetrics.serverCallsInFlight.observe(() => [[inFlight, labels]]);
  return async (
    request: Uint8Array,
    incoming: IncomingCall,
    send: (part: Chunks) => Promise<boolean>,
    over: Promise<void>,
  ): Promise<Chunks> => {
    if (inFlight >= mostInFlight || running >= mostRunning) {
      const full = new Overloaded('too_many_calls_in_flight');
      runtimeMetrics.callsRefused.add({ ...labels, reason: full.message });
      throw full;
    }
    inFlight += 1;
    running += 1;
    void over.then(() => {
      inFlight -= 1;
    });
    try {
      return await inCall(incoming, async () => {
        const answered = handler(decode(request), incoming);
        if (!(Symbol.asyncIterator in answered)) return encode(await answered);
        for await (const message of answered) if (!(await send(encode(message)))) break;
        return [];
      });
    } finally {
      running -= 1;
    }
  };
}

const callersMetadata: TextMapGetter<IncomingCall> = {
  get: ({ metadata }, key) => metadata(key),
  keys: () => [],
};

export function callContext(method: DescMethod, options: CallOptions) {
  const path = methodPath(method);
  const name = path.slice(1);
  const attributes: SpanAttributes = {
    'rpc.system.name': logText('grpc'),
    'rpc.method': logText(name),
    'rpc.response.status_code': logText(status[status.OK]),
  };
  return <T>(incoming: IncomingCall, work: () => Promise<T>): Promise<T> => {
    const sentId = incoming.metadata('x-request-id');
    const requestId = isWellFormedRequestId(sentId) ? sentId : randomUUID();
    const address = incoming.metadata('x-client-address');
    const inCall = withCall(ROOT_CONTEXT, requestId, incoming.deadline, address, incoming);
    const active = propagation.extract(inCall, incoming, callersMetadata);
    const authenticated = async () => {
      annotate(() => ({
        'course_exchange.request_id': logText(requestId),
        ...(incoming.deadline < Infinity && {
          'course_exchange.deadline.left_ms': incoming.deadline - Date.now(),
        }),
      }));
      options.authenticate?.(incoming, method);
      return work();
    };
    return inSpan(name, SpanKind.SERVER, attributes, () => reporting(path, options, authenticated), active);
  };
}

/** Within the call, so that the line has its request id and trace. Throws the failure that is sent to the caller. */
async function reporting<T>(path: string, options: CallOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const sent = sentFailure(error, options.errorStatuses);
    report(path, error, sent, options);
    recordError(error);
    annotate(() => ({ 'rpc.response.status_code': logText(statusName(sent, options.errorStatuses)) }));
    throw sent;
  }
}

function report(path: string, error: unknown, sent: Failure, { logger }: CallOptions): void {
  const rpc = logText(path);
  if (error instanceof Overloaded)
    runtimeMetrics.callsRefused.add({ 'rpc.method': path.slice(1), reason: error.message });
  if (sent !== error) logger.error('unforeseen error', { rpc, ...describeError(error) });
  else if (sent.cause !== undefined || sent instanceof Overloaded)
    logger.warn('call failed', {
      rpc,
      code: logText(sent.code),
      reason: logText(sent.message),
      ...(sent.cause === undefined ? {} : describeError(sent.cause)),
    });
}
