// GET /api/events: all Events of the token's user in one list (specification §4).
import { jsonAnswer } from '../answer.ts';
import { bearerCall } from '../wire/bearer.ts';
import { eventListJson } from '../wire/event-json.ts';
import type { Services } from '../wire/services.ts';
import type { Route } from './route.ts';

export function getEvents({ catalog }: Pick<Services, 'catalog'>): Route {
  return {
    method: 'GET',
    path: '/api/events',
    surface: 'resource',
    answer: async (request) => {
      const parts = await catalog.listEvents({}, bearerCall(request.authorization));
      return jsonAnswer(200, eventListJson(parts.flatMap((part) => part.events)));
    },
  };
}
