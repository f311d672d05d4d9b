// The answers of one stream on their way to its caller: what one turn of the event loop answers leaves as one message. A
// caller that does not read them has at most 1 MiB kept for it. Further answers wait in their calls, and nothing more is
// read from the stream until the caller has taken something. A small answer passes large ones that wait.
import type { Answer, CarryRequest } from '@course-exchange/proto/rpc/v1';
import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { Encoded } from './encode.ts';

export interface SentAnswer
  extends Pick<Answer, 'id'>,
    Partial<Pick<Answer, 'errorCode' | 'more' | 'user' | 'client'>> {
  readonly message?: Encoded;
}
interface SentResponse {
  readonly answers?: readonly SentAnswer[];
  readonly draining?: boolean;
}
export type Stream = ServerDuplexStream<CarryRequest, SentResponse>;

/** From this size on a message takes no more answers, in bytes. */
const fullMessage = 256 * 1024;
/** Answers of one stream that its caller has not read, in bytes; one alone may be larger. */
const mostUnread = 1024 * 1024;
/** What an answer counts besides its message, in bytes. */
const envelope = 64;

export function answerQueue(stream: Stream) {
  const ready: SentAnswer[] = [];
  /** Those that find the stream full, in their order: by the id of their call, with what is told once they are taken. */
  const waiting = new Map<number, { readonly answer: SentAnswer; readonly taken: () => void }>();
  let [size, unread] = [0, 0];

  const bytesOf = ({ message }: SentAnswer): number => envelope + (message?.length ?? 0);
  const fits = (answer: SentAnswer): boolean => unread === 0 || unread + bytesOf(answer) <= mostUnread;
  const flush = (taken?: () => void): void => {
    const [answers, bytes] = [ready.splice(0), size];
    size = 0;
    if (answers.length === 0 || stream.writableEnded) return;
    stream.write({ answers }, (error?: Error | null) => {
      // Its connection is gone.
      if (error) return;
      unread -= bytes;
      taken?.();
      putWaiting();
      if (stream.isPaused()) stream.resume();
    });
  };
  const put = (answer: SentAnswer, taken?: () => void): void => {
    if (ready.push(answer) === 1) setImmediate(flush);
    size += bytesOf(answer);
    unread += bytesOf(answer);
    if (taken || size > fullMessage) flush(taken);
  };
  const putWaiting = (): void => {
    for (const [id, { answer, taken }] of waiting) {
      if (!fits(answer)) return;
      waiting.delete(id);
      put(answer, taken);
    }
  };
  return {
    flush,
    /** Undefined when it leaves with its turn; a large one, and one that finds the stream full, settle once it is taken. */
    offer: (answer: SentAnswer, isLarge = false): Promise<void> | undefined => {
      const isNext = fits(answer) && (waiting.size === 0 || !isLarge);
      if (isNext && !isLarge) return void put(answer);
      const { promise, resolve } = Promise.withResolvers<void>();
      if (isNext) put(answer, resolve);
      else {
        waiting.set(answer.id, { answer, taken: resolve });
        stream.pause();
      }
      return promise;
    },
    withdraw: (id: number): void => {
      waiting.delete(id);
    },
  };
}
