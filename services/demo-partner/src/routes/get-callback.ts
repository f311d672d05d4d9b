// GET /callback — the browser comes back from the provider (specification §5, steps 3 to 6).
import type { FastifyInstance } from 'fastify';
import { refusedPage } from '../pages/outcome-page.ts';
import type { Partner } from '../partner.ts';
import { messagesOf, page, queryOf } from '../wire.ts';

export function getCallback(
  app: FastifyInstance,
  { sessions, authorization, connections, moveTransactions, now }: Partner,
): void {
  app.get('/callback', async (request, reply) => {
    const before = sessions.find(request)?.id;
    const outcome = await authorization.finish(before, queryOf(request));
    if (outcome.kind === 'refused') return page(reply, refusedPage(messagesOf(request)));
    connections.put(outcome.identity, outcome.connection, now());
    // A fresh session: an identifier that was planted before the login is worth nothing after it.
    const { id } = sessions.begin(request, reply, outcome.identity);
    // Another tab of this browser may be on its way through the provider's pages.
    if (before) moveTransactions(before, id);
    return reply.redirect(outcome.destination, 303);
  });
}
