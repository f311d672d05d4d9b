// What a route may know of an HTTP request. The Host header is not among it: the issuer is configuration
// (R28).
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { Failure } from '@course-exchange/runtime/failure';

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
  /** The body as UTF-8 text, read once. Fails with invalid_request when it is over 64 KiB or breaks off. */
  readonly readBody: () => Promise<string>;
}

const bodyLimit = 64 * 1024;

/** `forwardedAddress` is what Fastify made of X-Forwarded-For with the trusted proxies. */
export function incomingRequest(
  raw: IncomingMessage,
  requestId: string,
  params: unknown,
  forwardedAddress: () => string,
): IncomingRequest {
  const url = raw.url ?? '';
  const mark = url.indexOf('?');
  return {
    requestId,
    params: params as Readonly<Record<string, string>>,
    query: mark < 0 ? '' : url.slice(mark + 1),
    headers: raw.headers,
    get authorization() {
      return joinedAuthorization(raw);
    },
    get clientAddress() {
      return plainAddress(forwardedAddress()) ?? plainAddress(raw.socket.remoteAddress ?? '') ?? '';
    },
    readBody: () => readBody(raw),
  };
}

/** Node keeps the first of several Authorization headers and hides the others; here all count (R7). */
function joinedAuthorization(raw: IncomingMessage): string | undefined {
  if (raw.headers.authorization === undefined) return undefined;
  const values = raw.rawHeaders.filter(
    (_, index) => index % 2 === 1 && raw.rawHeaders[index - 1]?.toLowerCase() === 'authorization',
  );
  return values.join(', ');
}

/** An IP address without port, brackets or IPv4-in-IPv6 prefix; undefined when it is none. */
function plainAddress(written: string): string | undefined {
  const bare = written
    .replace(/^\[([^\]]+)\](:\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(bare) ? bare : undefined;
}

function readBody(raw: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    raw.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= bodyLimit) chunks.push(chunk);
      // The rest flows away unread, so that the client gets to read the answer; requestTimeout bounds it.
      else reject(new Failure('invalid_request', 'body too large'));
    });
    const broken = (): void => reject(new Failure('invalid_request', 'body broke off'));
    raw.once('error', broken).once('close', broken);
    raw.once('end', () => {
      // Every request closes in the end: an error with its stack must not be made for each.
      raw.off('close', broken);
      resolve(Buffer.concat(chunks).toString());
    });
  });
}
