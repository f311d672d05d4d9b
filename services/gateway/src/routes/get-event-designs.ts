// GET /api/events/{eventId}/designs: one Event with at most 500 of its designs (specification §4, R23).
import { jsonAnswer } from '../answer.ts';
import { bearerCall } from '../wire/bearer.ts';
import { designListJson } from '../wire/event-json.ts';
import type { Services } from '../wire/services.ts';
import type { Route } from './route.ts';

export function getEventDesigns({ catalog }: Pick<Services, 'catalog'>): Route {
  return {
    method: 'GET',
    path: '/api/events/:eventId/designs',
    surface: 'resource',
    answer: async (request) => {
      const eventId = request.params.eventId ?? '';
      return jsonAnswer(
        200,
        designListJson(await catalog.listDesigns({ eventId }, bearerCall(request.authorization))),
      );
    },
  };
}
