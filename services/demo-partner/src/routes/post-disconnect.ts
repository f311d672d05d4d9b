// POST /disconnect — deletes the user's tokens and sessions (specification §5: there is no revocation
// endpoint, so deleting is all that a partner can do, and it must). GET /disconnected says so.
import type { FastifyInstance } from 'fastify';
import { requireFormToken } from '../browser-session.ts';
import { disconnectedPage } from '../pages/outcome-page.ts';
import type { Partner } from '../partner.ts';
import { messagesOf, page } from '../wire.ts';

export function postDisconnect(app: FastifyInstance, partner: Partner): void {
  app.post('/disconnect', async (request, reply) => {
    const session = partner.sessions.connected(request);
    requireFormToken(session, request.body);
    partner.connections.remove(session.identity);
    partner.endSessionsOf(session.identity);
    partner.sessions.end(request, reply);
    return reply.redirect('/disconnected', 303);
  });
  app.get('/disconnected', async (request, reply) => page(reply, disconnectedPage(messagesOf(request))));
}
