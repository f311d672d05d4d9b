// The pool of call streams (decision 0028): calls share a few long-lived gRPC streams. A sent call is never repeated,
// unless it may be retried and lost its stream.
import type { DescMethod } from '@bufbuild/protobuf';
import { type Client, type ServiceError, status } from '@grpc/grpc-js';
import { context } from '@opentelemetry/api';
import { Failure, Overloaded } from '../process/errors.ts';
import { nameSubject } from '../process/request-context.ts';
import { runtimeMetrics } from '../process/runtime-metrics.ts';
import { annotate } from '../process/spans.ts';
import { type CallStream, openCallStream, type WaitingCall } from './call-stream.ts';
import { deserializer, methodPath, type Send, serializer } from './methods.ts';
import { fromStatus, unansweredCall } from './status.ts';

/** Several, so that `round_robin` spreads them over the addresses. */
const streamCount = 6;
const mostInFlight = 512;
/** Bytes. A larger request becomes a unary call: a server refuses a message over 256 KiB. */
const largestCarried = 64 * 1024;
/** A message of this size takes no more calls. In bytes. */
const fullMessage = 128 * 1024;

interface Channel {
  readonly target: string;
  readonly current: () => Client;
  /** The server behind `silent` does not answer. */
  readonly replace: (silent: Client) => void;
}

export function openCallStreams({ target, current, replace }: Channel) {
  const streams = new Set<CallStream>();
  const queue = new Map<number, WaitingCall>();
  let [next, scheduled, closed] = [0, false, false];

  const those = (state: ReturnType<CallStream['state']>): CallStream[] =>
    [...streams].filter((stream) => stream.state() === state);
  runtimeMetrics.callStreams.observe(() =>
    (['opening', 'serving', 'draining'] as const).map((state) => [
      those(state).length,
      { 'server.address': target, state },
    ]),
  );
  const open = (): void => {
    const channel = current();
    const onChange = (error?: ServiceError): void => {
      if (error) streams.delete(stream);
      // A draining stream serves until another one has answered.
      if (stream.state() === 'serving') those('draining')[0]?.close();
      if (error && those('closed').length === streams.size) dropAll(error);
      schedule();
    };
    const stream = openCallStream(channel, { onChange, onSilent: () => replace(channel) });
    streams.add(stream);
  };
  const schedule = (): void => {
    if (!scheduled) setImmediate(flush);
    scheduled = true;
  };
  const flush = (): void => {
    scheduled = false;
    const [draining, serving] = [those('draining'), those('serving')];
    const usable = serving.length > 0 ? serving : draining;
    // More would all go to the first connected address until one stream has answered.
    const wanted = usable.length > 0 ? streamCount : Math.min(queue.size, 1);
    for (let at = serving.length + those('opening').length; at < wanted && !closed; at += 1) open();
    for (; usable.length > 0 && queue.size > 0; next += 1)
      usable[next % usable.length]?.send(takeMessage(queue));
  };
  const dropAll = (error: ServiceError): void => {
    const calls = [...queue.values()];
    queue.clear();
    for (const call of calls) call.drop(error, false);
  };
  return {
    ask: (call: WaitingCall): void => {
      call.cancel = () => queue.delete(call.id);
      queue.set(call.id, call);
      if (closed) dropAll(unansweredCall(status.UNAVAILABLE, 'the connection is closed'));
      else schedule();
    },
    /** Calls in flight are answered. */
    close: (): void => {
      flush();
      closed = true;
      for (const stream of streams) stream.close();
    },
  };
}

function takeMessage(queue: Map<number, WaitingCall>): WaitingCall[] {
  const calls: WaitingCall[] = [];
  let size = 0;
  for (const call of queue.values()) {
    if (size >= fullMessage) break;
    size += call.size;
    calls.push(call);
    queue.delete(call.id);
  }
  return calls;
}

let lastId = 0;

/** A call that is too large goes by `sendAlone`, and its answer does not name its user and client. */
export function carriedSender(
  ask: (call: WaitingCall) => void,
  method: DescMethod,
  isRetryable: boolean,
  sendAlone: Send,
): Send {
  const [path, encode, decode] = [methodPath(method), serializer(method.input), deserializer(method.output)];
  let inFlight = 0;
  runtimeMetrics.clientCallsInFlight.observe(() => [[inFlight, { 'rpc.method': path.slice(1) }]]);
  return async (...asked) => {
    const [request, metadata, deadline, onMessage] = asked;
    const message = encode(request);
    const size = Object.values(metadata).reduce((sum, { length }) => sum + length, message.length);
    if (size > largestCarried) return sendAlone(...asked);
    if (inFlight >= mostInFlight) throw new Overloaded('too_many_calls_in_flight');
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const parts: unknown[] = [];
    // Stream events have the context of the call that opened the stream.
    const caller = context.active();
    const observe = onMessage && context.bind(caller, onMessage);
    let mayRepeat = true;
    lastId = (lastId + 1) % 2 ** 32;
    const call: WaitingCall = {
      ...{ id: lastId, method: path, message, metadata, size, deadline, cancel: () => {} },
      take: ({ message: bytes, errorCode, more, user, client }) => {
        nameSubject({ user, client }, caller);
        if (errorCode !== undefined) return reject(new Failure(errorCode));
        if (!more) return resolve(method.methodKind === 'unary' ? decode(bytes) : parts);
        const part = decode(bytes);
        observe?.(part);
        parts.push(part);
      },
      fail: reject,
      drop: (error, wasSent) => {
        if (!mayRepeat || parts.length > 0 || (wasSent && !isRetryable)) return reject(fromStatus(error));
        mayRepeat = false;
        context.with(caller, () => annotate(() => ({ 'course_exchange.retries': 1 })));
        ask(call);
      },
    };
    // After the socket: an answer that arrived while this process was stalled counts.
    const timer = setTimeout(() => setImmediate(expire, call), deadline - Date.now());
    inFlight += 1;
    ask(call);
    return promise.finally(() => {
      clearTimeout(timer);
      inFlight -= 1;
    });
  };
}

function expire({ cancel, fail }: WaitingCall): void {
  cancel();
  fail(fromStatus(unansweredCall(status.DEADLINE_EXCEEDED, 'the deadline passed before the answer')));
}
