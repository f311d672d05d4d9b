// The part of an HTTP request that a route sees.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isIP, isIPv4, type Socket } from 'node:net';
import { networksOf } from '@course-exchange/runtime/process/ip-address';
import { stopwatch } from '@course-exchange/runtime/process/metrics';
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
  readonly network: string;
  /** The form of a POST; '' for any other body. */
  readonly body: string;
  /** Counts bytes of an answer before they are buffered. Throws `Overloaded` (unread-answers.ts). */
  readonly holdAnswer: (bytes: number) => void;
}

/** The body is read later. */
export function incomingRequest(
  { raw, id, params, ip }: Pick<FastifyRequest, 'raw' | 'id' | 'params' | 'ip'>,
  response: ServerResponse,
  holdAnswer: UnreadAnswers,
) {
  const clientAddress = clientAddressOf({ raw, ip }) ?? '';
  const network = networkOf(clientAddress);
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

const arrivals = new WeakMap<IncomingMessage, () => number>();

export function noteArrival(raw: IncomingMessage): void {
  arrivals.set(raw, stopwatch());
}

/** Milliseconds since its head was read: it may have waited (pipeline.ts). */
export function sinceArrival(raw: IncomingMessage): number {
  return arrivals.get(raw)?.() ?? 0;
}

/** Capacity is shared by network (R14.10). */
export function clientNetwork(request: Pick<FastifyRequest, 'raw' | 'ip'>): string {
  return networkOf(clientAddressOf(request));
}

/** Of a connection: a client's network, or a proxy's. */
export function peerNetwork({ remoteAddress }: Socket): string {
  return networkOf(plainAddress(remoteAddress));
}

/** `ip`: through trusted proxies. */
function clientAddressOf({ raw, ip }: Pick<FastifyRequest, 'raw' | 'ip'>): string | undefined {
  return plainAddress(ip) ?? plainAddress(raw.socket.remoteAddress);
}

function networkOf(address = ''): string {
  return networksOf(address).at(-1) ?? '';
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
