// Serves the methods of a port to calls that a stream carries (decision 0028): each is authenticated, traced and answered
// as one that comes alone. A call holds its place and its memory until it is answered, cancelled, past its deadline or
// without its connection, whatever its handler waits for. A caller that does not read its answers is not read from either.
import type { DescMethod } from '@bufbuild/protobuf';
import type { Call, CarryRequest } from '@course-exchange/proto/rpc/v1';
import { Metadata, status } from '@grpc/grpc-js';
import { Overloaded } from '../process/errors.ts';
import { runtimeMetrics } from '../process/runtime-metrics.ts';
import { answerQueue, type SentAnswer, type Stream } from './call-stream-answers.ts';
import type { Encoded } from './encode.ts';
import { type CallOptions, callContext } from './handlers.ts';
import type { CallSource, IncomingCall } from './incoming-call.ts';
import { deserializer, methodPath, serializer } from './methods.ts';
import { toldFailure } from './status.ts';

type Handler = (request: unknown, call: IncomingCall) => Promise<unknown> | AsyncIterable<unknown>;
/** Sends a message of a streamed answer; false when nobody waits for more. */
type SendPart = (part: Encoded) => Promise<boolean>;
interface ServedMethod {
  /** Takes a place among the calls in flight; throws `Overloaded` when there is none. */
  readonly enter: () => void;
  readonly leave: () => void;
  /** Gives the end of the answer. */
  readonly serve: (request: Uint8Array, source: CallSource, send: SendPart) => Promise<Encoded>;
}

/** In milliseconds; then it is drained, for its successor may meet a new pod. See the grace of a connection in server.ts. */
const streamAgeMs = 3_500;
/** Calls of one method that callers wait for: what comes on top is refused before any work. */
const mostInFlight = 1_024;
/** Handlers of one method that run, those of calls that were cancelled or have expired too. */
const mostRunning = 4 * mostInFlight;
/** A smaller part leaves with its turn; a larger one is waited for, so that no list is kept twice. In bytes. */
const largePart = 64 * 1024;
/** In bytes: a client refuses a message of 4 MiB, and all answers in it. */
const largestAnswer = 3.5 * 1024 * 1024;

export function callStreamHandler(options: CallOptions) {
  const methods = new Map<string, ServedMethod>();
  const open = new Set<Stream>();
  return {
    /** Lets streams carry calls of `method`. */
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
    /** Without the answers that are still owed. */
    end: (): void => {
      for (const stream of open) stream.emit('error', { code: status.UNAVAILABLE });
    },
  };
}

/** Whom the call turned out to be about. */
const toldOf = ({ user = '', client = '' }: CallSource) => ({ user, client });

/** Asks the caller to end its side. */
function drain(stream: Stream): void {
  if (!stream.writableEnded && !stream.destroyed) stream.write({ draining: true });
}

function servedMethod(method: DescMethod, handler: Handler, options: CallOptions): ServedMethod {
  const [decode, serialize] = [deserializer(method.input), serializer(method.output)];
  const encode = (message: unknown): Encoded => {
    const bytes = serialize(message);
    if (bytes.length > largestAnswer) throw new Error('an answer is larger than a client takes');
    return bytes;
  };
  const inCall = callContext(method, options);
  let [inFlight, running] = [0, 0];
  const labels = { 'rpc.method': methodPath(method).slice(1) };
  runtimeMetrics.serverCallsInFlight.observe(() => [[inFlight, labels]]);
  return {
    enter: () => {
      if (inFlight >= mostInFlight || running >= mostRunning) {
        const full = new Overloaded('too many calls of this method are in flight');
        runtimeMetrics.callsRefused.add({ ...labels, reason: full.message });
        throw full;
      }
      inFlight += 1;
      running += 1;
    },
    leave: () => {
      inFlight -= 1;
    },
    serve: (request, source, send) =>
      inCall(source, async (call) => {
        const answered = handler(decode(request), call);
        if (!(Symbol.asyncIterator in answered)) return encode(await answered);
        for await (const message of answered) if (!(await send(encode(message)))) break;
        return Buffer.alloc(0);
      }).finally(() => {
        running -= 1;
      }),
  };
}

/** Calls of one stream that somebody waits for, by id, with what ends each before its answer. */
type Calls = Map<number, () => void>;

function serveStream(stream: Stream, methods: ReadonlyMap<string, ServedMethod>, options: CallOptions): void {
  const calls: Calls = new Map();
  const answers = answerQueue(stream);
  const endWhenAnswered = (): void => {
    if (!stream.readableEnded || calls.size > 0 || stream.writableEnded) return;
    answers.flush();
    stream.end();
  };
  const cancelAll = (): void => {
    for (const cancel of calls.values()) cancel();
  };
  const serve = callServer(stream, { methods, options, calls, answers, onLeft: endWhenAnswered });
  // The caller's grpc-js keeps what it sends until it hears that the stream has arrived.
  stream.sendMetadata(new Metadata());
  stream
    .on('data', (request: CarryRequest) => {
      if (stream.writableEnded || stream.cancelled) return;
      // Its caller asks whether this process still runs; pending answers already say so.
      if (request.calls.length + request.cancelledIds.length === 0 && !stream.writableNeedDrain)
        stream.write({});
      for (const call of request.calls) {
        if (calls.has(call.id)) {
          cancelAll();
          stream.pause();
          stream.emit('error', {
            code: status.INVALID_ARGUMENT,
            details: 'a call with this id is in flight',
          });
          return;
        }
        void serve(call);
      }
      for (const id of request.cancelledIds) calls.get(id)?.();
    })
    .on('end', endWhenAnswered)
    .on('cancelled', cancelAll);
}

interface ServingOptions {
  readonly methods: ReadonlyMap<string, ServedMethod>;
  readonly options: CallOptions;
  readonly calls: Calls;
  readonly answers: ReturnType<typeof answerQueue>;
  /** A call is waited for no more. */
  readonly onLeft: () => void;
}

/** Returns what serves one call, from its request to its answer. */
function callServer(stream: Stream, { methods, options, calls, answers, onLeft }: ServingOptions) {
  const certificate = stream.getAuthContext().sslPeerCertificate;

  /** Takes a place, runs the handler and makes the last answer of whatever comes of it. */
  async function answerTo(
    { id, method, message }: Call,
    source: CallSource,
    enter: (served: ServedMethod) => void,
    send: SendPart,
  ): Promise<SentAnswer> {
    try {
      const served = methods.get(method);
      if (served === undefined) throw new Error('this port does not serve it');
      enter(served);
      return { id, message: await served.serve(message, source, send), ...toldOf(source) };
    } catch (error) {
      return { id, errorCode: toldFailure(error, options.errorStatuses).code, ...toldOf(source) };
    }
  }

  return async (call: Call): Promise<void> => {
    const { id, timeoutMs } = call;
    const { promise: gone, resolve: abandon } = Promise.withResolvers<void>();
    let leavePlace = () => {};
    const leave = (): void => {
      calls.delete(id);
      clearTimeout(timer);
      leavePlace();
      answers.withdraw(id);
      onLeft();
    };
    const cancel = (): void => {
      leave();
      abandon();
    };
    const isWaitedFor = (): boolean => calls.get(id) === cancel;
    calls.set(id, cancel);
    // What the sockets hold is read first: a reply that came while this process stood still is answered.
    const expire = () => setImmediate(() => isWaitedFor() && cancel());
    const timer = setTimeout(expire, Math.min(timeoutMs, 2 ** 31 - 1));
    const deliver = async (answer: SentAnswer, isLarge = false): Promise<boolean> => {
      const taken = isWaitedFor() ? answers.offer(answer, isLarge) : undefined;
      if (taken) await Promise.race([taken, gone]);
      return isWaitedFor();
    };
    const enter = (served: ServedMethod): void => {
      served.enter();
      leavePlace = served.leave;
    };
    const send: SendPart = (part) => deliver({ id, message: part, more: true }, part.length >= largePart);
    const last = await answerTo(call, carriedSource(call, certificate, gone), enter, send);
    if (await deliver(last)) leave();
  };
}

function carriedSource(
  { metadata, timeoutMs }: Call,
  certificate: ReturnType<CallSource['certificate']>,
  gone: Promise<void>,
): CallSource {
  return {
    deadline: Date.now() + timeoutMs,
    metadata: (name) => metadata[name],
    certificate: () => certificate,
    signal: () => {
      const abort = new AbortController();
      void gone.then(() => abort.abort());
      return abort.signal;
    },
  };
}
