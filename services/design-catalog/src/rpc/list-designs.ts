// CatalogService.ListDesigns: one of the owner's Events with its designs.
import type { CatalogService } from '@course-exchange/proto/catalog/v1';
import { Failure } from '@course-exchange/runtime/failure';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import type { Authenticate } from '../authentication/token-verification.ts';
import { publicEventId, storedEventId } from '../domain/event-id.ts';
import type { Owner, StoredEventId } from '../domain/ids.ts';
import type { EventWithDesigns } from '../domain/summaries.ts';
import { eventMessage } from './event-message.ts';

export interface ListDesignsUses {
  readonly authenticate: Authenticate;
  readonly findEvent: (owner: Owner, eventId: StoredEventId) => Promise<EventWithDesigns | undefined>;
  /** Told of each Event that is given out. */
  readonly listed: (owner: Owner, designs: number) => void;
}

/** The token is verified before the id is looked at (R20). */
export function listDesignsHandler({
  authenticate,
  findEvent,
  listed,
}: ListDesignsUses): Handlers<typeof CatalogService>['listDesigns'] {
  return async (request, { authorization }) => {
    const owner = await authenticate(authorization);
    const stored = storedEventId(request.eventId);
    const found = stored === undefined ? undefined : await findEvent(owner, stored);
    if (found === undefined) throw new Failure('not_found');
    listed(owner, found.designs.length);
    const eventId = publicEventId(found.event.eventId);
    return {
      event: eventMessage(found.event),
      designs: found.designs.map((design) => ({ ...design, eventId })),
    };
  };
}
