// GET /connect — begins the authorization-code flow for this browser (specification §5, steps 1 and 2).
import type { FastifyInstance } from 'fastify';
import type { Partner } from '../partner.ts';
import { queryOf } from '../wire.ts';

export function getConnect(app: FastifyInstance, { sessions, authorization }: Partner): void {
  app.get('/connect', async (request, reply) => {
    const wanted = queryOf(request).get('to');
    // Whoever names no page wants what one connects for.
    const destination = wanted === null ? '/events' : localPath(wanted);
    const session = sessions.find(request) ?? sessions.begin(request, reply);
    const url = await authorization.begin(session.id, destination);
    return reply.redirect(url.href, 303);
  });
}

/** Only a path of ours, so that nobody can send our users elsewhere after the login. */
export function localPath(path: string): string {
  return /^\/(?:events(?:\/[\w.~%-]+\/designs)?)?$/.test(path) ? path : '/';
}
