// The server end of a call stream (decision 0028): each call is authenticated, traced and answered like a unary call.
// A caller that does not read its answers is not read from.
import type { DescMethod } from '@bufbuild/protobuf';
import type { Call, CarryRequest } from '@course-exchange/proto/rpc/v1';
import { Metadata, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { Overloaded } from '../process/errors.ts';
import { runtimeMetrics } from '../process/runtime-metrics.ts';
import { type CallOptions, callContext } from './handlers.ts';
import { carriedCall, type IncomingCall } from './incoming-call.ts';
import {
  type Chunks,
  chunker,
  deserializer,
  lengthOf,
  type MessageInit,
  methodPath,
  type SentAnswer,
  type SentResponse,
} from './methods.ts';
import { sentFailure } from './status.ts';

type Stream = ServerDuplexStream<CarryRequest, SentResponse>;
type Handler = (request: unknown, call: IncomingCall) => Promise<MessageInit> | AsyncIterable<MessageInit>;
/** False when the call was cancelled. */
type SendPart = (part: Chunks) => Promise<boolean>;
/** Returns the last message. The call is in flight until `over`. Throws `Overloaded`. */
type ServedMethod = (
  call: Call,
  incoming: IncomingCall,
  send: SendPart,
  over: Promise<void>,
) => Promise<Chunks>;

const notServed: ServedMethod = async () => {
  throw new Error('this port does not serve it');
};

/** Milliseconds. See the connection grace in server.ts. */
const streamAgeMs = 3_500;
/** Calls of one method in flight; more are refused before any work. */
const mostInFlight = 1_024;
/** Running handlers of one method, including those of cancelled and expired calls. */
const mostRunning = 4 * mostInFlight;
/** Bytes. Larger parts are awaited, so that no list is buffered twice. */
const largePart = 64 * 1024;
/** Bytes. A client refuses a message over 4 MiB. */
const largestAnswer = 3.5 * 1024 * 1024;
/** A message of this size takes no more answers. In bytes. */
const fullMessage = 256 * 1024;
/** Bytes of one stream; a single answer may be larger. */
const mostUnread = 1024 * 1024;
/** Counted per answer beside its message, in bytes. */
const envelope = 64;

export function callStreamServer(options: CallOptions) {
  const methods = new Map<string, ServedMethod>();
  const open = new Set<Stream>();
  return {
    add: (method: DescMethod, handler: Handler): void => {
      if (method.methodKind === 'unary' || method.methodKind === 'server_streaming')
        methods.set(methodPath(method), servedMethod(method, handler, options));
    },
    handle: (stream: Stream): void => {
      serveStream(stream, methods, options);
      setTimeout(drain, streamAgeMs, stream).unref();
      open.add(stream);
      stream.once('close', () => open.delete(stream));
    },
    drain: (): void => open.forEach(drain),
    /** Drops the pending answers. */
    end: (): void => {
      for (const stream of open) stream.emit('error', { code: status.UNAVAILABLE });
    },
  };
}

function drain(stream: Stream): void {
  if (!stream.writableEnded && !stream.destroyed) stream.write({ draining: true });
}

function servedMethod(method: DescMethod, handler: Handler, options: CallOptions): ServedMethod {
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
  return async ({ message: request }, incoming, send, over) => {
    if (inFlight >= mostInFlight || running >= mostRunning) {
      const full = new Overloaded('too many calls of this method are in flight');
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

function serveStream(stream: Stream, methods: ReadonlyMap<string, ServedMethod>, options: CallOptions): void {
  /** By id of the calls in flight: ends the call. */
  const calls = new Map<number, () => void>();
  const answers = answerQueue(stream);
  const certificate = stream.getAuthContext().sslPeerCertificate;

  const endWhenAnswered = (): void => {
    if (!stream.readableEnded || calls.size > 0 || stream.writableEnded) return;
    answers.flush();
    stream.end();
  };
  const endAll = (): void => {
    for (const end of calls.values()) end();
  };

  async function serve(call: Call): Promise<void> {
    const { id } = call;
    const { promise: over, resolve: finish } = Promise.withResolvers<void>();
    const isWaitedFor = (): boolean => calls.get(id) === end;
    const end = (): void => {
      if (!isWaitedFor()) return;
      calls.delete(id);
      clearTimeout(timer);
      answers.withdraw(id);
      finish();
      endWhenAnswered();
    };
    calls.set(id, end);
    // After the sockets: a reply that arrived while this process was stalled counts.
    const timer = setTimeout(() => setImmediate(end), Math.min(call.timeoutMs, 2 ** 31 - 1));
    const deliver = async (answer: SentAnswer, isLarge = false): Promise<boolean> => {
      const taken = isWaitedFor() ? answers.offer(answer, isLarge) : undefined;
      if (taken) await Promise.race([taken, over]);
      return isWaitedFor();
    };
    const send: SendPart = (part) => deliver({ id, message: part, more: true }, lengthOf(part) >= largePart);
    const incoming = carriedCall(call, certificate, over);
    const served = methods.get(call.method) ?? notServed;
    const outcome = await served(call, incoming, send, over).then(
      (message): Omit<SentAnswer, 'id'> => ({ message }),
      (error) => ({ errorCode: sentFailure(error, options.errorStatuses).code }),
    );
    const { user = '', client = '' } = incoming;
    if (await deliver({ id, ...outcome, user, client })) end();
  }

  function take({ calls: asked, cancelledIds }: CarryRequest): void {
    if (stream.writableEnded || stream.cancelled) return;
    // An empty message is a probe; pending answers already reply to it.
    if (asked.length + cancelledIds.length === 0 && !stream.writableNeedDrain) stream.write({});
    for (const call of asked) {
      if (calls.has(call.id)) {
        endAll();
        stream.pause();
        const details = 'a call with this id is in flight';
        stream.emit('error', { code: status.INVALID_ARGUMENT, details });
        return;
      }
      void serve(call);
    }
    for (const id of cancelledIds) calls.get(id)?.();
  }

  // The caller's grpc-js buffers what it sends until the stream is accepted.
  stream.sendMetadata(new Metadata());
  stream.on('data', take).on('end', endWhenAnswered).on('cancelled', endAll);
}

/** A small answer overtakes large ones that wait. */
function answerQueue(stream: Stream) {
  const ready: SentAnswer[] = [];
  /** In order, by call; `taken` is called once the answer is read. */
  const waiting = new Map<number, { readonly answer: SentAnswer; readonly taken: () => void }>();
  let [size, unread] = [0, 0];

  const bytesOf = ({ message = [] }: SentAnswer): number => envelope + lengthOf(message);
  const fits = (answer: SentAnswer): boolean => unread === 0 || unread + bytesOf(answer) <= mostUnread;
  const flush = (taken?: () => void): void => {
    const [answers, bytes] = [ready.splice(0), size];
    size = 0;
    if (answers.length === 0 || stream.writableEnded) return;
    stream.write({ answers }, (error?: Error | null) => {
      // The connection is gone.
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
    /**
     * Undefined when it leaves with this tick. A large answer, or one that finds the stream full, settles once it is
     * read.
     */
    offer: (answer: SentAnswer, isLarge: boolean): Promise<void> | undefined => {
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
