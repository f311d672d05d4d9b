// Serves the methods of a port to calls that a stream carries (decision 0028): each is authenticated, traced and answered
// as one that comes alone.
import type { DescMethod } from '@bufbuild/protobuf';
import type { Answer, Call, CarryRequest } from '@course-exchange/proto/rpc/v1';
import { Metadata, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { Overloaded } from '../process/errors.ts';
import { runtimeMetrics } from '../process/runtime-metrics.ts';
import type { Encoded } from './encode.ts';
import { type CallOptions, callContext } from './handlers.ts';
import type { CallSource, IncomingCall } from './incoming-call.ts';
import { deserializer, methodPath, serializer } from './methods.ts';
import { toldFailure } from './status.ts';

interface SentAnswer
  extends Pick<Answer, 'id'>,
    Partial<Pick<Answer, 'errorCode' | 'more' | 'user' | 'client'>> {
  readonly message?: Encoded;
}
interface SentResponse {
  readonly answers?: readonly SentAnswer[];
  readonly draining?: boolean;
}
type Stream = ServerDuplexStream<CarryRequest, SentResponse>;
type Handler = (request: unknown, call: IncomingCall) => Promise<unknown> | AsyncIterable<unknown>;
/** Gives the end of the answer; the messages of a streamed one go to `send`, which is false when nobody waits for more. */
type ServeCall = (
  request: Uint8Array,
  source: CallSource,
  send: (part: Encoded) => Promise<boolean>,
) => Promise<Encoded>;

/** In milliseconds; then it is drained, for its successor may meet a new pod. See the grace of a connection in server.ts. */
const streamAgeMs = 3_500;
/** Calls of one method from all callers: who comes on top is refused before any work. */
const mostInFlight = 1_024;
/** From this size on a message takes no more answers, in bytes. */
const fullMessage = 256 * 1024;
/** A smaller part leaves with its turn; a larger one is waited for, so that no list is kept twice. In bytes. */
const largePart = 64 * 1024;
/** In bytes: a client refuses a message of 4 MiB, and all answers in it. */
const largestAnswer = 3.5 * 1024 * 1024;

export function callStreamHandler(options: CallOptions) {
  const methods = new Map<string, ServeCall>();
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
function toldOf({ user = '', client = '' }: CallSource) {
  return { user, client };
}

/** Asks the caller to end its side. */
function drain(stream: Stream): void {
  if (!stream.writableEnded && !stream.destroyed) stream.write({ draining: true });
}

function servedMethod(method: DescMethod, handler: Handler, options: CallOptions): ServeCall {
  const [decode, serialize] = [deserializer(method.input), serializer(method.output)];
  const encode = (message: unknown): Encoded => {
    const bytes = serialize(message);
    if (bytes.length > largestAnswer) throw new Error('an answer is larger than a client takes');
    return bytes;
  };
  const inCall = callContext(method, options);
  let inFlight = 0;
  const labels = { 'rpc.method': methodPath(method).slice(1) };
  runtimeMetrics.serverCallsInFlight.observe(() => [[inFlight, labels]]);
  return async (request, source, send) => {
    if (inFlight >= mostInFlight) {
      const full = new Overloaded('too many calls of this method are in flight');
      runtimeMetrics.callsRefused.add({ ...labels, reason: full.message });
      throw full;
    }
    inFlight += 1;
    const work = async (call: IncomingCall): Promise<Encoded> => {
      const answered = handler(decode(request), call);
      if (!(Symbol.asyncIterator in answered)) return encode(await answered);
      for await (const message of answered) if (!(await send(encode(message)))) break;
      return Buffer.alloc(0);
    };
    return inCall(source, work).finally(() => {
      inFlight -= 1;
    });
  };
}

function serveStream(stream: Stream, methods: ReadonlyMap<string, ServeCall>, options: CallOptions): void {
  /** Those that somebody waits for, by id, with what cancels them. */
  const calls = new Map<number, () => void>();
  const answers: SentAnswer[] = [];
  const certificate = stream.getAuthContext().sslPeerCertificate;
  let size = 0;

  const flush = (onWritten = () => {}): void => {
    size = 0;
    if (answers.length === 0 || stream.destroyed) onWritten();
    else stream.write({ answers: answers.splice(0) }, onWritten);
  };
  /** What one turn of the event loop answers leaves as one message. */
  const write = (answer: SentAnswer): void => {
    if (answers.push(answer) === 1) setImmediate(flush);
    size += answer.message?.length ?? 0;
    if (size > fullMessage) flush();
  };
  const endWhenAnswered = (): void => {
    if (!stream.readableEnded || calls.size > 0) return;
    flush();
    stream.end();
  };
  const serve = async ({ id, method, message, metadata, timeoutMs }: Call): Promise<void> => {
    const { promise: gone, resolve: cancel } = Promise.withResolvers<void>();
    calls.set(id, cancel);
    const source: CallSource = {
      deadline: Date.now() + timeoutMs,
      metadata: (name) => metadata[name],
      certificate: () => certificate,
      signal: () => {
        const abort = new AbortController();
        void gone.then(() => abort.abort());
        return abort.signal;
      },
    };
    const send = async (part: Encoded): Promise<boolean> => {
      const isLarge = part.length >= largePart;
      const answer = { id, message: part, more: true };
      // What `write` flushes by itself nobody could wait for.
      if (isLarge) answers.push(answer);
      else write(answer);
      if (isLarge || stream.writableNeedDrain) await Promise.race([new Promise<void>(flush), gone]);
      return calls.has(id);
    };
    try {
      const end = await methods.get(method)?.(message, source, send);
      if (end === undefined) throw new Error('this port does not serve it');
      if (calls.delete(id)) write({ id, message: end, ...toldOf(source) });
    } catch (error) {
      const errorCode = toldFailure(error, options.errorStatuses).code;
      if (calls.delete(id)) write({ id, errorCode, ...toldOf(source) });
    }
    endWhenAnswered();
  };
  // The caller's grpc-js keeps what it sends until it hears that the stream has arrived.
  stream.sendMetadata(new Metadata());
  stream
    .on('data', (request: CarryRequest) => {
      // Its caller asks whether this process still runs.
      if (request.calls.length + request.cancelledIds.length === 0) stream.write({});
      for (const call of request.calls) void serve(call);
      for (const id of request.cancelledIds) {
        calls.get(id)?.();
        calls.delete(id);
      }
    })
    .on('end', endWhenAnswered)
    .on('cancelled', () => {
      for (const cancel of calls.values()) cancel();
      calls.clear();
    });
}
