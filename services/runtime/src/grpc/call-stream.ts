// The calling end of a call stream (decision 0028): which calls one long-lived gRPC stream carries, and what becomes of
// each. A stream asks its server whether it still runs, and ends where no answer comes.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Answer, type Call, CallStreamService } from '@course-exchange/proto/rpc/v1';
import { type Client, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { deserializer, methodPath, serializer } from './methods.ts';
import { unansweredCall } from './status.ts';

/** A call that waits for its answer. */
export interface WaitingCall extends Pick<Call, 'id' | 'method' | 'message' | 'metadata'> {
  /** Of message and metadata, in bytes. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** Takes an answer, or a part of it. Throws where it wants no more. */
  readonly take: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
  /** No stream will bring its answer any more. */
  readonly lose: (error: ServiceError, wasSent: boolean) => void;
  /** Nobody waits for it any more. Set by whoever holds the call. */
  cancel: () => void;
}

/** How long a draining stream still takes calls where none comes in its place, in milliseconds. */
const successionMs = 1_000;
/** Between two looks at whether the server was heard, in milliseconds. */
const lookPauseMs = 500;
/** Pauses without a word from the server. As it counts pauses, a process that stood still itself blames nobody. */
const mostUnheard = 4;
const { carry } = CallStreamService.method;
const [encode, decode] = [serializer(carry.input), deserializer(carry.output)];

export type CallStream = ReturnType<typeof openCallStream>;

interface CallStreamEvents {
  /** It is in another state. `error`: it has ended. */
  readonly onChange: (error?: ServiceError) => void;
  /** It ends because its server says nothing. */
  readonly onSilent: () => void;
}

export function openCallStream(channel: Client, { onChange, onSilent }: CallStreamEvents) {
  const waiting = new Map<number, WaitingCall>();
  // Not as a stream of Node: here all messages come before the status, also where the connection breaks.
  const call = channel.getChannel().createCall(methodPath(carry), Infinity, null, null, null);
  /** Pauses since the server was heard last. */
  let unheard = 0;
  let state: 'opening' | 'serving' | 'draining' | 'closed' = 'opening';

  const write = (message: MessageInitShape<typeof carry.input>): void =>
    call.sendMessageWithContext({}, encode(message));
  const cancel = (id: number): void => {
    if (waiting.delete(id) && state !== 'closed') write({ cancelledIds: [id] });
  };
  const take = (answer: Answer): void => {
    const one = waiting.get(answer.id);
    if (!answer.more) waiting.delete(answer.id);
    try {
      one?.take(answer);
    } catch (error) {
      cancel(answer.id);
      one?.fail(error);
    }
  };
  /** It takes no more calls; those that it carries get their answers. */
  const close = (): void => {
    if (state !== 'closed') call.halfClose();
    state = 'closed';
  };
  const listening = setInterval(() => {
    unheard += 1;
    // One that takes no more calls cannot ask: its calls end with their time.
    if (state === 'closed' && waiting.size > 0) return;
    if (unheard > mostUnheard) {
      if (state !== 'closed') onSilent();
      call.cancelWithStatus(status.UNAVAILABLE, 'the server is silent');
      // It answers an empty message with one.
    } else if (unheard > 1 && (state === 'serving' || state === 'draining')) write({});
  }, lookPauseMs).unref();
  call.start(new Metadata(), {
    onReceiveMetadata: () => {
      unheard = 0;
      if (state === 'opening') state = 'serving';
      onChange();
    },
    onReceiveMessage: (bytes: Buffer) => {
      unheard = 0;
      call.startRead();
      try {
        const { answers, draining } = decode(bytes);
        answers.forEach(take);
        if (!draining || state !== 'serving') return;
        state = 'draining';
        setTimeout(close, successionMs).unref();
        onChange();
      } catch {
        call.cancelWithStatus(status.INTERNAL, 'the answer is malformed');
      }
    },
    onReceiveStatus: ({ code, details }) => {
      state = 'closed';
      clearInterval(listening);
      const error = unansweredCall(code || status.UNAVAILABLE, details);
      for (const one of waiting.values()) one.lose(error, true);
      waiting.clear();
      onChange(error);
    },
  });
  call.startRead();
  return {
    state: () => state,
    send: (calls: readonly WaitingCall[]): void => {
      for (const one of calls) {
        waiting.set(one.id, one);
        one.cancel = () => cancel(one.id);
      }
      const now = Date.now();
      write({
        calls: calls.map(({ id, method, message, metadata, deadline }) => {
          return { id, method, message, metadata, timeoutMs: Math.max(deadline - now, 1) };
        }),
      });
    },
    close,
  };
}
