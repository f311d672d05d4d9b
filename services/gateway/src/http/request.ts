// What a route may know of an HTTP request. The Host header is not among it: the issuer is configuration
// (R28).
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP, isIPv4 } from 'node:net';

export interface IncomingRequest {
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  /** The query string as it came, without `?`. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** The Authorization header, whole; several are joined, which no scheme accepts. Secret. */
  readonly authorization: string | undefined;
  /** The user's address, seen through trusted proxies only (R30). Personal. */
  readonly clientAddress: string;
  /**
   * Waits for the request's turn, which every piece of work begins with: see admission.ts. Throws `Overloaded`. `readBody`
   * does it when the body is there, and for a GET it is done already.
   */
  readonly begin: () => Promise<void>;
  /** See unfinished-bodies.ts. */
  readonly readBody: () => Promise<string>;
  /** Counts bytes of an answer before they are kept. Throws `Overloaded`: see unread-answers.ts. */
  readonly holdAnswer: (bytes: number) => void;
}

/** `forwardedAddress` is what Fastify made of X-Forwarded-For with the trusted proxies. */
export function incomingRequest(
  raw: IncomingMessage,
  requestId: string,
  params: unknown,
  forwardedAddress: string,
  steps: Pick<IncomingRequest, 'begin' | 'readBody' | 'holdAnswer'>,
): IncomingRequest {
  const url = raw.url ?? '';
  const mark = url.indexOf('?');
  return {
    requestId,
    params: params as Readonly<Record<string, string>>,
    query: mark < 0 ? '' : url.slice(mark + 1),
    headers: raw.headers,
    // Node keeps the first of several and hides the others; here all count (R7).
    get authorization() {
      return raw.headersDistinct.authorization?.join(', ');
    },
    clientAddress: plainAddress(forwardedAddress) ?? plainAddress(raw.socket.remoteAddress) ?? '',
    ...steps,
  };
}

/** An IP address without port, brackets or IPv4-in-IPv6 prefix; undefined when it is none. */
function plainAddress(written = ''): string | undefined {
  if (isIPv4(written)) return written;
  const bare = written
    .replace(/^\[([^\]]+)\](:\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(bare) ? bare : undefined;
}
