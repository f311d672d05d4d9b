// The client end of a call stream (decision 0028), which probes its server and ends when no answer comes.
import { type Answer, type Call, CallStreamService, type CarryResponse } from '@course-exchange/proto/rpc/v1';
import { type Client, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { deserializer, methodPath, serializer } from './methods.ts';
import { unansweredCall } from './status.ts';

export interface WaitingCall extends Pick<Call, 'id' | 'method' | 'message' | 'metadata'> {
  /** Bytes of message and metadata. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** Throws to cancel the call. */
  readonly take: (answer: Answer) => void;
  readonly fail: (error: unknown) => void;
  /** No stream will bring its answer. */
  readonly drop: (error: ServiceError, wasSent: boolean) => void;
  /** Drops the call. Set by the stream or queue that holds it. */
  cancel: () => void;
}

/** Milliseconds for which a draining stream serves without a successor. */
const successionMs = 1_000;
const lookPauseMs = 500;
/** Probe intervals: counting them keeps a stalled process from blaming its servers. */
const mostUnheard = 4;
const { carry } = CallStreamService.method;
const [encode, decode] = [serializer(carry.input), deserializer(carry.output)];

export type CallStream = ReturnType<typeof openCallStream>;

interface CallStreamEvents {
  /** `error`: the stream has ended. */
  readonly onChange: (error?: ServiceError) => void;
  readonly onSilent: () => void;
}

export function openCallStream(channel: Client, { onChange, onSilent }: CallStreamEvents) {
  const waiting = new Map<number, WaitingCall>();
  const stream = channel.makeBidiStreamRequest(methodPath(carry), encode, decode);
  /** Probe intervals since the server's last message. */
  let unheard = 0;
  let state: 'opening' | 'serving' | 'draining' | 'closed' = 'opening';

  const cancel = (id: number): void => {
    if (waiting.delete(id) && state !== 'closed') stream.write({ cancelledIds: [id] });
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
  /** Takes no more calls; those in flight are answered. */
  const close = (): void => {
    if (state !== 'closed') stream.end();
    state = 'closed';
  };
  const listening = setInterval(() => {
    unheard += 1;
    // A half-closed stream cannot probe: its calls end by their deadlines.
    if (state === 'closed' && waiting.size > 0) return;
    if (unheard > mostUnheard) {
      if (state !== 'closed') onSilent();
      stream.cancel();
      // An empty message is answered by an empty message.
    } else if (unheard > 1 && (state === 'serving' || state === 'draining')) stream.write({});
  }, lookPauseMs).unref();
  stream
    .on('metadata', () => {
      unheard = 0;
      if (state === 'opening') state = 'serving';
      onChange();
    })
    .on('data', ({ answers, draining }: CarryResponse) => {
      unheard = 0;
      answers.forEach(take);
      if (!draining || state !== 'serving') return;
      state = 'draining';
      setTimeout(close, successionMs).unref();
      onChange();
    })
    // Its status follows.
    .on('error', () => {})
    .on('status', ({ code, details }: StatusObject) => {
      state = 'closed';
      clearInterval(listening);
      const isSilent = unheard > mostUnheard;
      // grpc-js says INTERNAL of a connection that broke under a write (EPIPE), and of an answer that it cannot parse.
      const isLost = code === status.OK || (code === status.INTERNAL && !details.includes('parsing error'));
      const problem = isSilent ? 'the server is silent' : details;
      const error = unansweredCall(isSilent || isLost ? status.UNAVAILABLE : code, problem);
      for (const one of waiting.values()) one.drop(error, true);
      waiting.clear();
      onChange(error);
    });
  return {
    state: () => state,
    send: (calls: readonly WaitingCall[]): void => {
      for (const one of calls) {
        waiting.set(one.id, one);
        one.cancel = () => cancel(one.id);
      }
      const now = Date.now();
      stream.write({
        calls: calls.map(({ id, method, message, metadata, deadline }) => {
          return { id, method, message, metadata, timeoutMs: Math.max(deadline - now, 1) };
        }),
      });
    },
    close,
  };
}
