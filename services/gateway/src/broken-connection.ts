// Answers what never became a request: garbage, an oversized header section, conflicting lengths, a client
// that is too slow. The same one-field body and headers as everywhere (R25).
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { logText } from '@course-exchange/runtime/logger';
import { errorBody, type ReplyCode } from './error-reply.ts';
import type { Route } from './routes/route.ts';
import type { RoutingOptions } from './routing.ts';
import { surfaceHeaders } from './security-headers.ts';
import { readUnknownMethod } from './unknown-method.ts';

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

interface ConnectionError extends Error {
  readonly code?: string;
  /** What Node's parser stumbled over. */
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
  socket.end(rawAnswer(answer, options));
}

interface RawAnswer {
  readonly status: number;
  readonly code: ReplyCode;
  readonly allow?: string;
}

function answerTo({ code, rawPacket }: ConnectionError, routes: readonly Route[]): RawAnswer {
  const asked = code === 'HPE_INVALID_METHOD' ? readUnknownMethod(rawPacket, routes) : undefined;
  if (asked?.kind === 'known-route') return { status: 405, code: 'method_not_allowed', allow: asked.allow };
  if (asked?.kind === 'unknown-route') return { status: 404, code: 'not_found' };
  return { status: statuses[code ?? ''] ?? 400, code: 'invalid_request' };
}

function rawAnswer({ status, code, allow }: RawAnswer, { issuer, makeRequestId }: RoutingOptions): string {
  const body = errorBody(code);
  const headers = {
    ...surfaceHeaders('public', issuer),
    ...(allow === undefined ? {} : { allow }),
    'x-request-id': makeRequestId(),
    'content-type': 'application/json',
    'content-length': String(body.length),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}
