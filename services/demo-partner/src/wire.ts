// What routes share about HTTP: the language of a request, its query as it was sent, an HTML answer.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Messages, messagesFor } from './pages/messages.ts';

export function messagesOf(request: FastifyRequest): Messages {
  return messagesFor(request.headers['accept-language']);
}

/** The query with repeated parameters kept apart. */
export function queryOf(request: FastifyRequest): URLSearchParams {
  const mark = request.url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : request.url.slice(mark));
}

export function page(reply: FastifyReply, body: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(body);
}
