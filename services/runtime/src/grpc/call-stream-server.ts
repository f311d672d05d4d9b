// The server end of a call stream (decision 0028): each call is authenticated, traced and answered like a unary call.
// A caller that does not read its answers is not read from.
import type { DescMethod } from '@bufbuild/protobuf';
import type { Call, CarryRequest } from '@course-exchange/proto/rpc/v1';
import { Metadata, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { type CallOptions, carriedHandler, type Handler } from './handlers.ts';
import { carriedCall } from './incoming-call.ts';
import { type Chunks, lengthOf, methodPath, type SentAnswer, type SentResponse } from './methods.ts';
import { sentFailure } from './status.ts';

type Stream = ServerDuplexStream<CarryRequest, SentResponse>;
type Methods = Map<string, ReturnType<typeof carriedHandler>>;

/** Milliseconds. See the connection grace in server.ts. */
const streamAgeMs = 3_500;
/** Bytes. Larger parts are awaited, so that no list is buffered twice. */
const largePart = 64 * 1024;
/** A message of this size takes no more answers. In bytes. */
const fullMessage = 256 * 1024;
/** Counted per answer beside its message, in bytes. */
const envelope = 64;

export function callStreamServer(options: CallOptions) {
  const methods: Methods = new Map();
  const open = new Set<Stream>();
  return {
    add: (method: DescMethod, handler: Handler): void => {
      if (method.methodKind === 'unary' || method.methodKind === 'server_streaming')
        methods.set(methodPath(method), carriedHandler(method, handler, options));
    },
    handle: (stream: Stream): void => {
      serveStream(stream, methods, options);
      setTimeout(drain, streamAgeMs, stream).unref();
      open.add(stream);
      stream.once('close', () => open.delete(stream));
    },
    drain: (): void => open.forEach(drain),
    /** Drops the pending answers. */
    end: (): void => open.forEach((stream) => void stream.emit('error', { code: status.UNAVAILABLE })),
  };
}

function drain(stream: Stream): void {
  if (!stream.writableEnded && !stream.destroyed) stream.write({ draining: true });
}

function serveStream(stream: Stream, methods: Methods, options: CallOptions): void {
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
      finish();
      endWhenAnswered();
    };
    calls.set(id, end);
    // After the sockets: a reply that arrived while this process was stalled counts.
    const timer = setTimeout(() => setImmediate(end), Math.min(call.timeoutMs, 2 ** 31 - 1));
    const send = async (message: Chunks) => {
      if (isWaitedFor()) await Promise.race([answers.offer({ id, message, more: true }), over]);
      return isWaitedFor();
    };
    const incoming = carriedCall(call, certificate, over);
    const handler = methods.get(call.method);
    const refused = (error: unknown) => ({ errorCode: sentFailure(error, options.errorStatuses).code });
    const outcome: Omit<SentAnswer, 'id'> = handler
      ? await handler(call.message, incoming, send, over).then((message) => ({ message }), refused)
      : refused(new Error('this port does not serve it'));
    if (isWaitedFor())
      answers.put({ id, ...outcome, user: incoming.user ?? '', client: incoming.client ?? '' });
    end();
  }

  function take({ calls: asked, cancelledIds }: CarryRequest): void {
    if (stream.writableEnded || stream.cancelled) return;
    // An empty message is a probe; pending answers already reply to it.
    if (asked.length + cancelledIds.length === 0 && !stream.writableNeedDrain) stream.write({});
    for (const call of asked) {
      if (calls.has(call.id)) {
        endAll();
        stream.pause();
        stream.emit('error', { code: status.INVALID_ARGUMENT, details: 'a call with this id is in flight' });
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

function answerQueue(stream: Stream) {
  const ready: SentAnswer[] = [];
  let size = 0;
  let lastPart: Promise<unknown> = Promise.resolve();
  const write = (onRead?: () => void): void => {
    size = 0;
    if (ready.length === 0 || stream.writableEnded) return;
    if (stream.write({ answers: ready.splice(0) }, onRead) || stream.isPaused()) return;
    stream.pause();
    stream.once('drain', () => stream.resume());
  };
  const put = (answer: SentAnswer): void => {
    if (ready.push(answer) === 1) setImmediate(write);
    size += envelope + lengthOf(answer.message ?? []);
    if (size > fullMessage) write();
  };
  const read = (answer: SentAnswer) =>
    new Promise<void>((resolve) => {
      ready.push(answer);
      write(resolve);
    });
  return {
    flush: (): void => write(),
    /** Leaves with this tick. */
    put,
    /** Settles once a large one is read, of which one is on its way at a time, or one that finds the stream full. */
    offer: (answer: SentAnswer): Promise<unknown> | undefined => {
      if (lengthOf(answer.message ?? []) < largePart)
        return stream.writableNeedDrain ? read(answer) : void put(answer);
      lastPart = lastPart.then(() => read(answer));
      return lastPart;
    },
  };
}
