// The two reads of the resource interface (specification §4): the token names the owner, and nothing else does.
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { Failure } from '@course-exchange/runtime/process/errors';
import type { Logger } from '@course-exchange/runtime/process/logger';
import { timed } from '@course-exchange/runtime/process/metrics';
import { annotate } from '@course-exchange/runtime/process/spans';
import { catalogMetrics } from '../metrics.ts';
import type { Authenticate } from '../tokens/access-token.ts';
import { storedEventId } from './event.ts';
import { findEventWithDesigns, listEvents } from './event-table.ts';

export interface ListDeps {
  readonly authenticate: Authenticate;
  readonly database: Queries;
  readonly logger: Logger;
}

/** The JSON of all Events of the token's user. */
export async function eventsJson(deps: ListDeps, authorization: string | undefined): Promise<string> {
  const { owner, client, user } = await deps.authenticate(authorization);
  const { events, json } = await timed(
    catalogMetrics.listDuration,
    { list: 'events' },
    () => listEvents(deps.database, owner),
    (found) => ({ size: sizeClass(found.events) }),
  );
  annotate(() => ({ 'course_exchange.list.items': events }));
  catalogMetrics.listItems.record(events, { list: 'events' });
  deps.logger.info('events listed', { client, user, events });
  return json;
}

/**
 * The JSON of one Event with its designs. The token is verified before the id is judged (R20). Throws `not_found` for
 * an id that is none, an Event that is not there and one of another user's (R24).
 */
export async function designsJson(
  deps: ListDeps,
  authorization: string | undefined,
  eventId: string,
): Promise<string> {
  const { owner, client, user } = await deps.authenticate(authorization);
  const stored = storedEventId(eventId);
  const found =
    stored &&
    (await timed(
      catalogMetrics.listDuration,
      { list: 'designs' },
      () => findEventWithDesigns(deps.database, owner, stored),
      (event) => ({ size: sizeClass(event?.designs ?? 0) }),
    ));
  if (!found) throw new Failure('not_found');
  annotate(() => ({ 'course_exchange.list.items': found.designs }));
  catalogMetrics.listItems.record(found.designs, { list: 'designs' });
  deps.logger.info('designs listed', { client, user, designs: found.designs });
  return found.json;
}

/** Lists of different length keep different objectives (docs/runbook.md). */
function sizeClass(items: number): string {
  if (items <= 100) return 'small';
  return items <= 1_000 ? 'medium' : 'large';
}
