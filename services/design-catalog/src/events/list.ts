// The two reads of the resource interface (specification §4). The token alone determines the owner.
import type { Reads } from '@course-exchange/runtime/postgres/pool';
import { Failure } from '@course-exchange/runtime/process/errors';
import type { Logger, LogText } from '@course-exchange/runtime/process/logger';
import { timed } from '@course-exchange/runtime/process/metrics';
import { annotate } from '@course-exchange/runtime/process/spans';
import { catalogMetrics } from '../metrics.ts';
import { type Owner, storedEventId } from './event.ts';
import { findEventWithDesigns, listEvents } from './event-table.ts';

/** Whose events a partner reads. */
export interface AccessGrant {
  readonly owner: Owner;
  /** Safe to log: only identity puts it into a token. */
  readonly client: LogText;
  /** The keyed hash of the owner for logs (R27). */
  readonly user: LogText;
}

export interface ListDeps {
  /** Throws `invalid_token` for anything but a valid access token, `temporarily_unavailable` while no key set is known. */
  readonly authenticate: (token: string | undefined) => Promise<AccessGrant>;
  readonly database: Reads;
  readonly logger: Logger;
}

export async function eventsJson(deps: ListDeps, token: string | undefined): Promise<string> {
  const { owner, client, user } = await deps.authenticate(token);
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
 * The token is verified first (R20.1). Throws `not_found` for an invalid id, a nonexistent Event and a foreign one
 * (R24).
 */
export async function designsJson(
  deps: ListDeps,
  token: string | undefined,
  eventId: string,
): Promise<string> {
  const { owner, client, user } = await deps.authenticate(token);
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

/** Objectives differ by length (docs/on-call.md). */
function sizeClass(items: number): string {
  if (items <= 100) return 'small';
  return items <= 1_000 ? 'medium' : 'large';
}
