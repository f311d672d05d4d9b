// POST /refresh — renews the tokens now instead of before their end.
import type { FastifyInstance } from 'fastify';
import { requireFormToken } from '../browser-session.ts';
import type { Partner } from '../partner.ts';

export function postRefresh(app: FastifyInstance, { sessions, accessTokens }: Partner): void {
  app.post('/refresh', async (request, reply) => {
    const session = sessions.connected(request);
    requireFormToken(session, request.body);
    await accessTokens.refresh(session.identity);
    return reply.redirect('/', 303);
  });
}
