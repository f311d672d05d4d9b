// GET / — who is connected, or how to connect.
import type { FastifyInstance } from 'fastify';
import { formTokenOf } from '../browser-session.ts';
import { connectedPage, welcomePage } from '../pages/home-page.ts';
import type { Partner } from '../partner.ts';
import { messagesOf, page } from '../wire.ts';

export function getHome(app: FastifyInstance, { sessions, connections, provider }: Partner): void {
  app.get('/', async (request, reply) => {
    const reachable = await provider().then(
      () => true,
      () => false,
    );
    const session = sessions.find(request);
    const connection = session?.identity && connections.find(session.identity);
    if (!session || !connection) return page(reply, welcomePage(messagesOf(request), reachable));
    return page(reply, connectedPage(messagesOf(request), connection, formTokenOf(session), reachable));
  });
}
