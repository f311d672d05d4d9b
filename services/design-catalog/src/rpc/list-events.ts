// CatalogService.ListEvents: the owner's Events, streamed in parts.
import type { CatalogService } from '@course-exchange/proto/catalog/v1';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import type { Authenticate } from '../authentication/token-verification.ts';
import type { Owner } from '../domain/ids.ts';
import type { EventSummary } from '../domain/summaries.ts';
import { eventMessage } from './event-message.ts';

/** Events in one message: some 50 KB as a rule, and between two messages the loop turns. */
const eventsInPart = 256;
/** Texts of one message in bytes of UTF-8: 256 of the longest names (64 KiB) would be more than a client accepts. */
const bytesInPart = 1024 * 1024;

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
    for (const part of partsOf(events)) yield { events: part.map(eventMessage) };
  };
}

function* partsOf(events: readonly EventSummary[]): Generator<readonly EventSummary[]> {
  let start = 0;
  let bytes = 0;
  for (const [index, { eventId, name }] of events.entries()) {
    const more = Buffer.byteLength(eventId) + Buffer.byteLength(name);
    if (index > start && (index - start === eventsInPart || bytes + more > bytesInPart)) {
      yield events.slice(start, index);
      start = index;
      bytes = 0;
    }
    bytes += more;
  }
  if (start < events.length) yield events.slice(start);
}
