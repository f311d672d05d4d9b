// GET / — who is connected, or how to connect.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { formTokenOf } from '../browser-session.ts';
import { connectedPage, welcomePage } from '../pages/home-page.ts';
import type { Partner } from '../partner.ts';
import type { Provider } from '../provider.ts';
import { messagesOf, page } from '../wire.ts';

export function getHome(app: FastifyInstance, { sessions, connections, provider }: Partner): void {
  app.get('/', async (request, reply) => {
    const reachable = await answersSoon(provider);
    const session = sessions.find(request);
    const connection = session?.identity && connections.find(session.identity);
    if (!session || !connection) return page(reply, welcomePage(messagesOf(request), reachable));
    return page(reply, connectedPage(messagesOf(request), connection, formTokenOf(session), reachable));
  });
}

/** The first page does not wait long for the provider: it only says whether connecting makes sense now. */
async function answersSoon(provider: Provider): Promise<boolean> {
  const answered = provider().then(
    () => true,
    () => false,
  );
  return Promise.race([answered, sleep(1_000, false, { ref: false })]);
}
