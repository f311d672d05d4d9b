// GET /events — the connected user's events.
import type { FastifyInstance } from 'fastify';
import { eventsPage } from '../pages/events-page.ts';
import type { Partner } from '../partner.ts';
import { messagesOf, page } from '../wire.ts';

export function getEvents(app: FastifyInstance, { sessions, designApi }: Partner): void {
  app.get('/events', async (request, reply) => {
    const { identity } = sessions.connected(request);
    return page(reply, eventsPage(messagesOf(request), await designApi.events(identity)));
  });
}
