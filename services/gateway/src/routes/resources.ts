// GET /api/events and GET /api/events/{eventId}/designs: design-catalog's answer, byte for byte (specification §4).
import type { IncomingRequest } from '../http/request.ts';
import { type Answer, jsonAnswer, type Route } from '../http/route.ts';
import { bearerCall, type Services } from '../services.ts';

interface Part {
  readonly body: Uint8Array;
}

export function resourceRoutes({ catalog }: Pick<Services, 'catalog'>): readonly Route[] {
  const route = { method: 'GET', profile: 'resource' } as const;
  return [
    {
      ...route,
      path: '/api/events',
      answer: async (request) => listAnswer(await catalog.listEvents({}, ...callOf(request))),
    },
    {
      ...route,
      path: '/api/events/:eventId/designs',
      answer: async (request) => {
        const { eventId = '' } = request.params;
        return listAnswer(await catalog.listDesigns({ eventId }, ...callOf(request)));
      },
    },
  ];
}

/** Counted on arrival: a list without capacity is not read to its end. */
function callOf({ authorization, holdAnswer }: IncomingRequest) {
  return [bearerCall(authorization), ({ body }: Part) => holdAnswer(body.length)] as const;
}

function listAnswer(parts: readonly Part[]): Answer {
  const bodies = parts.map(({ body }) => body);
  return jsonAnswer(200, bodies);
}
