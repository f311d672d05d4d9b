// Answers what never became a request: garbage, an oversized header section, conflicting lengths, a client
// that is too slow. The same one-field body and headers as everywhere (R25).
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { logText } from '@course-exchange/runtime/logger';
import { errorBody } from './error-reply.ts';
import type { RoutingOptions } from './routing.ts';
import { surfaceHeaders } from './security-headers.ts';

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

interface ConnectionError extends Error {
  readonly code?: string;
}

/** Writes one answer and closes; a connection that is gone, or in mid-answer, is only closed. */
export function answerBrokenConnection(
  error: ConnectionError,
  socket: Socket & { readonly _httpMessage?: { readonly headersSent: boolean } | null },
  options: RoutingOptions,
): void {
  const answering = socket._httpMessage?.headersSent === true;
  if (error.code === 'ECONNRESET' || !socket.writable || answering) {
    socket.destroy();
    return;
  }
  const status = statuses[error.code ?? ''] ?? 400;
  options.logger.info('broken request', { errorCode: logText(error.code ?? 'unknown'), status });
  socket.end(rawAnswer(status, options));
}

function rawAnswer(status: number, { issuer, makeRequestId }: RoutingOptions): string {
  const body = errorBody('invalid_request');
  const headers = {
    ...surfaceHeaders('public', issuer),
    'x-request-id': makeRequestId(),
    'content-type': 'application/json',
    'content-length': String(body.length),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}
