// GET /api/events and GET /api/events/{eventId}/designs: what design-catalog answers, byte for byte (specification §4).
import { bearerCall } from '../http/bearer.ts';
import type { IncomingRequest } from '../http/request.ts';
import { type Answer, jsonAnswer, type Route } from '../http/route.ts';
import type { Services } from '../services.ts';

type ResourceDeps = Pick<Services, 'catalog'>;

export function resourceRoutes(deps: ResourceDeps): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/events',
      profile: 'resource',
      answer: (request) => listEvents(deps, request),
    },
    {
      method: 'GET',
      path: '/api/events/:eventId/designs',
      profile: 'resource',
      answer: (request) => listDesigns(deps, request),
    },
  ];
}

/** All Events of the token's user. */
async function listEvents({ catalog }: ResourceDeps, request: IncomingRequest): Promise<Answer> {
  return listAnswer(await catalog.listEvents({}, bearerCall(request.authorization), holdIn(request)));
}

/** One Event with at most 500 of its designs (R23). */
async function listDesigns({ catalog }: ResourceDeps, request: IncomingRequest): Promise<Answer> {
  const { eventId = '' } = request.params;
  return listAnswer(
    await catalog.listDesigns({ eventId }, bearerCall(request.authorization), holdIn(request)),
  );
}

interface Part {
  readonly body: Uint8Array;
}

/** Each part counts when it comes, so that a list for which there is no room is not read to its end. */
function holdIn(request: IncomingRequest) {
  return ({ body }: Part) => request.holdAnswer(body.length);
}

function listAnswer(parts: readonly Part[]): Answer {
  return jsonAnswer(
    200,
    parts.map(({ body }) => body),
  );
}
