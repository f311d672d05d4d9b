// Answers input that never became a request: malformed, too large or too slow (R25.1, R25.3).
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { logText } from '@course-exchange/runtime/process/logger';
import { gatewayMetrics, namedMethod } from '../metrics.ts';
import { errorReply } from './errors.ts';
import { profileHeaders } from './headers.ts';
import { type Answer, bytesOf, methodsOf, type Route } from './route.ts';
import type { RoutingOptions } from './router.ts';

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

interface ConnectionError extends Error {
  readonly code?: string;
  readonly rawPacket?: unknown;
}

/** Of `pending` and the `newest`, answers to whole requests still go out, and a request that broke has at most one. */
export function answerBrokenConnection(
  error: ConnectionError,
  socket: Socket,
  newest: ServerResponse | undefined,
  pending: readonly ServerResponse[],
  options: RoutingOptions,
  routes: readonly Route[],
): void {
  const broken = newest?.req.complete === false ? newest : undefined;
  const owed = broken === undefined ? newest : pending.findLast((answer) => answer !== broken);
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else if (owed?.writableFinished === false) {
    owed.shouldKeepAlive = false;
    owed.once('finish', () => socket.destroySoon());
  } else if (broken?.headersSent === true) {
    if (broken.writableEnded) socket.destroySoon();
    else socket.destroy();
  } else {
    const answer = answerTo(error, routes);
    const { status } = answer;
    options.logger.info('broken request', { errorCode: logText(error.code ?? 'unknown'), status });
    if (broken === undefined)
      gatewayMetrics.requests.record(0, {
        'http.request.method': namedMethod(''),
        'url.scheme': 'http',
        'http.response.status_code': status,
      });
    socket.end(rawAnswer(answer, options));
  }
}

/** Node's parser rejects unknown methods: the path decides, as for other methods (specification §4, R20.1, R31.3). */
function answerTo({ code = '', rawPacket }: ConnectionError, routes: readonly Route[]): Answer {
  const path = code === 'HPE_INVALID_METHOD' ? requestedPath(rawPacket) : undefined;
  if (path === undefined) {
    const answer = errorReply('invalid_request', 'public');
    return { ...answer, status: statuses[code] ?? answer.status };
  }
  const allowed = routes.filter((route) => patternOf(route.path).test(path)).flatMap(methodsOf);
  if (allowed.length === 0) return errorReply('not_found', 'public');
  const answer = errorReply('method_not_allowed', 'public');
  return { ...answer, headers: { ...answer.headers, allow: allowed.join(', ') } };
}

const requestLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ (\/[^\s?]*)(\?\S*)? HTTP\/1\.[01]\r?\n/;

function requestedPath(packet: unknown): string | undefined {
  return requestLine.exec(Buffer.isBuffer(packet) ? packet.toString('latin1') : '')?.[1];
}

/** `:name` matches one non-empty segment. */
function patternOf(path: string): RegExp {
  const segments = path.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : RegExp.escape(part)));
  return new RegExp(`^${segments.join('/')}$`);
}

function rawAnswer({ status, headers, body }: Answer, { issuer, makeRequestId }: RoutingOptions): string {
  const lines = Object.entries({
    ...profileHeaders('public', issuer),
    ...headers,
    'x-request-id': makeRequestId(),
    'content-length': bytesOf(body),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}
