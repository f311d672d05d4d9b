// CatalogService.ListEvents: the owner's Events, streamed in parts.
import type { CatalogService } from '@course-exchange/proto/catalog/v1';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import type { Authenticate } from '../authentication/token-verification.ts';
import type { Owner } from '../domain/ids.ts';
import type { EventSummary } from '../domain/summaries.ts';
import { eventMessage } from './event-message.ts';

/** Events in one message: some 50 KB, far below what a gRPC client accepts, and between two the loop turns. */
const eventsInPart = 256;

export interface ListEventsUses {
  readonly authenticate: Authenticate;
  readonly listEvents: (owner: Owner) => Promise<readonly EventSummary[]>;
  /** Told of each list that is given out. */
  readonly listed: (owner: Owner, events: number) => void;
}

export function listEventsHandler({
  authenticate,
  listEvents,
  listed,
}: ListEventsUses): Handlers<typeof CatalogService>['listEvents'] {
  return async function* (_request, { authorization }) {
    const owner = await authenticate(authorization);
    const events = await listEvents(owner);
    listed(owner, events.length);
    for (let start = 0; start < events.length; start += eventsInPart) {
      yield { events: events.slice(start, start + eventsInPart).map(eventMessage) };
    }
  };
}
