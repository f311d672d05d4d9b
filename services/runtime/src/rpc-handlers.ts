// Handlers as grpc-js calls them: each call runs in the context of its request, in a span, and ends in an answer
// or in a code.
import { randomUUID } from 'node:crypto';
import type { Metadata, ServerReadableStream, ServerWritableStream, sendUnaryData } from '@grpc/grpc-js';
import { context, propagation, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { isWellFormedRequestId, withCall } from './call-context.ts';
import { Failure } from './failure.ts';
import {
  type AnsweredCall,
  type AnyCall,
  deadlineOfCall,
  type IncomingCall,
  incomingCall,
} from './incoming-call.ts';
import { describeError, type Logger, logText } from './logger.ts';
import { type ErrorStatuses, toStatus } from './rpc-errors.ts';
import { inSpan } from './telemetry.ts';

export interface CallOptions {
  readonly errorStatuses: ErrorStatuses;
  /** Tells callers the sentences of a DetailedFailure. Never where a partner may reach. */
  readonly sendDetails?: boolean;
  readonly logger: Logger;
}

/** Unary and client-streaming: in the latter the call itself is the stream of messages. */
export function answeringHandler(
  path: string,
  handler: (request: unknown, call: IncomingCall) => Promise<unknown>,
  options: CallOptions,
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

export function streamingHandler(
  path: string,
  handler: (request: unknown, call: IncomingCall) => AsyncIterable<unknown>,
  options: CallOptions,
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

function inCall<T>(path: string, call: AnyCall, options: CallOptions, work: () => Promise<T>): Promise<T> {
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

/** Within the call, so that the line carries its request id and trace. */
async function reporting<T>(path: string, options: CallOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    reportUnforeseen(path, error, options);
    throw error;
  }
}

function reportUnforeseen(path: string, error: unknown, { logger, errorStatuses }: CallOptions): void {
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
