// GET /callback — the browser comes back from the provider (specification §5, steps 3 to 6).
import type { FastifyInstance } from 'fastify';
import { refusedPage } from '../pages/outcome-page.ts';
import type { Partner } from '../partner.ts';
import { messagesOf, page, queryOf } from '../wire.ts';

export function getCallback(
  app: FastifyInstance,
  { sessions, authorization, connections, now }: Partner,
): void {
  app.get('/callback', async (request, reply) => {
    const outcome = await authorization.finish(sessions.find(request)?.id, queryOf(request));
    if (outcome.kind === 'refused') return page(reply, refusedPage(messagesOf(request)));
    connections.put(outcome.identity, outcome.connection, now());
    // A fresh session: an identifier that was planted before the login is worth nothing after it.
    sessions.begin(request, reply, outcome.identity);
    return reply.redirect(outcome.destination, 303);
  });
}
