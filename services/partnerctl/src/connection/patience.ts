// How long a call waits: until its time limit or Ctrl-C, whether or not the other side says anything.
import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';

export interface PatienceParts {
  /** Ends when the person presses Ctrl-C. */
  readonly signal: AbortSignal;
  /** For a call that is no stream and names no limit of its own, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Streams last as long as they last; everything else answers in time or is given up. The service gets the limit too.
 * A session that is still connecting heeds no signal: therefore the call is left, not only told to end.
 */
export function patience({ signal, timeoutMs }: PatienceParts): Interceptor {
  return (next) => async (request) => {
    const limit = request.stream ? undefined : limitOf(request.header, timeoutMs);
    const late = limit === undefined ? [] : [AbortSignal.timeout(limit)];
    const end = AbortSignal.any([request.signal, signal, ...late]);
    // A stream that runs is ended by the signal that its caller gave.
    const answer = next(request.stream ? request : { ...request, signal: end });
    return leave(answer, end);
  };
}

const header = 'grpc-timeout';

/** The call's own limit, which Connect has written into the header, or the usual one. */
function limitOf(headers: Headers, timeoutMs: number): number {
  const own = /^(\d+)m$/.exec(headers.get(header) ?? '')?.[1];
  if (own === undefined) headers.set(header, `${timeoutMs}m`);
  return own === undefined ? timeoutMs : Number(own);
}

async function leave<T>(answer: Promise<T>, end: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const ended = (): void => reject(endOf(end));
  if (end.aborted) ended();
  end.addEventListener('abort', ended);
  try {
    return await Promise.race([promise, answer]);
  } finally {
    end.removeEventListener('abort', ended);
  }
}

function endOf({ reason }: AbortSignal): ConnectError {
  if (reason instanceof ConnectError) return reason;
  const late = reason instanceof Error && reason.name === 'TimeoutError';
  return late
    ? new ConnectError('no answer in time', Code.DeadlineExceeded)
    : new ConnectError('interrupted', Code.Canceled);
}
