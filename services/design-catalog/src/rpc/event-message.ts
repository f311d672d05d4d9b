// EventSummary of the wire from EventSummary of the domain.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { EventSummarySchema } from '@course-exchange/proto/catalog/v1';
import { publicEventId } from '../domain/event-id.ts';
import type { EventSummary } from '../domain/summaries.ts';

type EventMessage = Exclude<MessageInitShape<typeof EventSummarySchema>, { $typeName: string }>;

export function eventMessage(event: EventSummary): EventMessage {
  return {
    id: publicEventId(event.eventId),
    name: event.name,
    startDate: event.startDate,
    endDate: event.endDate,
    updatedAt: event.updatedAt,
    designCount: event.designCount,
  };
}
