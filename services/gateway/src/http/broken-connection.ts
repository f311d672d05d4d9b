// Answers what never became a request: garbage, an oversized header section, conflicting lengths, a client that is too
// slow (R25).
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { logText } from '@course-exchange/runtime/process/logger';
import { gatewayMetrics, namedMethod } from '../metrics.ts';
import { errorBody, type ReplyCode } from './errors.ts';
import { profileHeaders } from './headers.ts';
import { methodsOf, type Route } from './route.ts';
import type { RoutingOptions } from './router.ts';

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

interface ConnectionError extends Error {
  readonly code?: string;
  /** What Node's parser failed on. */
  readonly rawPacket?: unknown;
}

/** Writes one answer and closes; a connection that is gone, or in mid-answer, is only closed. */
export function answerBrokenConnection(
  error: ConnectionError,
  socket: Socket & { readonly _httpMessage?: { readonly headersSent: boolean } | null },
  options: RoutingOptions,
  routes: readonly Route[],
): void {
  const answering = socket._httpMessage?.headersSent === true;
  if (error.code === 'ECONNRESET' || !socket.writable || answering) {
    socket.destroy();
    return;
  }
  const answer = answerTo(error, routes);
  options.logger.info('broken request', {
    errorCode: logText(error.code ?? 'unknown'),
    status: answer.status,
  });
  // A request that is in flight on it is measured itself.
  if (!socket._httpMessage)
    gatewayMetrics.requests.record(0, {
      'http.request.method': namedMethod(''),
      'url.scheme': 'http',
      'http.response.status_code': answer.status,
    });
  socket.end(rawAnswer(answer, options));
}

interface RawAnswer {
  readonly status: number;
  readonly code: ReplyCode;
  readonly allow?: string;
}

/**
 * A method unknown to Node's parser never becomes a request: its path decides, as for every other method (specification
 * §4, R20, R31).
 */
function answerTo({ code, rawPacket }: ConnectionError, routes: readonly Route[]): RawAnswer {
  const path = code === 'HPE_INVALID_METHOD' ? requestedPath(rawPacket) : undefined;
  if (path === undefined) return { status: statuses[code ?? ''] ?? 400, code: 'invalid_request' };
  const allow = routes
    .filter((route) => patternOf(route.path).test(path))
    .flatMap(methodsOf)
    .join(', ');
  return allow === ''
    ? { status: 404, code: 'not_found' }
    : { status: 405, code: 'method_not_allowed', allow };
}

const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\/[^\s?]*)(\?\S*)? HTTP\/1\.[01]\r?\n/;

/** The path that the first bytes ask for; undefined without a request line. */
function requestedPath(packet: unknown): string | undefined {
  return requestLine.exec(Buffer.isBuffer(packet) ? packet.toString('latin1') : '')?.[1];
}

/** `:name` stands for one segment that is not empty. */
function patternOf(path: string): RegExp {
  const segments = path.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : RegExp.escape(part)));
  return new RegExp(`^${segments.join('/')}$`);
}

function rawAnswer({ status, code, allow }: RawAnswer, { issuer, makeRequestId }: RoutingOptions): string {
  const body = errorBody(code);
  const headers = {
    ...profileHeaders('public', issuer),
    ...(allow === undefined ? {} : { allow }),
    'x-request-id': makeRequestId(),
    'content-type': 'application/json',
    'content-length': String(body.length),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}
