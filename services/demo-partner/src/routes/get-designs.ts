// GET /events/{eventId}/designs — the designs of one event of the connected user.
import type { FastifyInstance } from 'fastify';
import { designsPage } from '../pages/events-page.ts';
import type { Partner } from '../partner.ts';
import { messagesOf, page } from '../wire.ts';

export function getDesigns(app: FastifyInstance, { sessions, designApi }: Partner): void {
  app.get<{ Params: { eventId: string } }>('/events/:eventId/designs', async (request, reply) => {
    const { identity } = sessions.connected(request);
    const { event, items } = await designApi.designs(identity, request.params.eventId);
    return page(reply, designsPage(messagesOf(request), event, items));
  });
}
