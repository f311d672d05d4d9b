// The part of an HTTP request that a route sees.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { isIP, isIPv4 } from 'node:net';
import { networksOf } from '@course-exchange/runtime/process/ip-address';
import type { FastifyRequest } from 'fastify';
import type { UnreadAnswers } from './unread-answers.ts';

export interface IncomingRequest {
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  /** As sent, without `?`. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** The whole header; several are joined, which no scheme accepts. Secret. */
  readonly authorization: string | undefined;
  /** From trusted proxies only (R30.9). Personal. */
  readonly clientAddress: string;
  /** Capacity is shared by network (R14.10). */
  readonly network: string;
  /** The form of a POST; '' for any other body. */
  readonly body: string;
  /** Counts bytes of an answer before they are buffered. Throws `Overloaded` (unread-answers.ts). */
  readonly holdAnswer: (bytes: number) => void;
}

/** `ip`: through trusted proxies. The body is read later. */
export function incomingRequest(
  { raw, id, params, ip }: Pick<FastifyRequest, 'raw' | 'id' | 'params' | 'ip'>,
  response: ServerResponse,
  holdAnswer: UnreadAnswers,
) {
  const clientAddress = plainAddress(ip) ?? plainAddress(raw.socket.remoteAddress) ?? '';
  const network = networksOf(clientAddress).at(-1) ?? '';
  return {
    requestId: id,
    params: params as Readonly<Record<string, string>>,
    query: raw.url?.replace(/^[^?]*\??/, '') ?? '',
    headers: raw.headers,
    // Node hides all but the first (R7.9).
    get authorization() {
      return raw.headersDistinct.authorization?.join(', ');
    },
    clientAddress,
    network,
    body: '',
    holdAnswer: holdAnswer(response, network),
  };
}

/** Without port, brackets or IPv4-in-IPv6 prefix. */
function plainAddress(written = ''): string | undefined {
  if (isIPv4(written)) return written;
  const bare = written
    .replace(/^\[([^\]]+)\](:\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(bare) ? bare : undefined;
}

export function bringsForm({ headers }: Pick<IncomingRequest, 'headers'>): boolean {
  const mediaType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  return mediaType === 'application/x-www-form-urlencoded';
}
