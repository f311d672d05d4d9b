// Writes Events and designs as the JSON of specification §2: exactly its fields in its order, null where a
// nullable one is absent. Never the message as it is, so that a field added to the wire stays inside.
import type { DesignSummary, EventSummary, ListDesignsResponse } from '@course-exchange/proto/catalog/v1';

export function eventListJson(events: readonly EventSummary[]): string {
  return JSON.stringify({ items: events.map(publicEvent) });
}

/** `response` has an event: design-catalog answers not_found otherwise. */
export function designListJson({ event, designs }: ListDesignsResponse): string {
  if (!event) throw new Error('design list without its event');
  return JSON.stringify({ event: publicEvent(event), items: designs.map(publicDesign) });
}

function publicEvent(event: EventSummary) {
  return {
    id: event.id,
    name: event.name,
    startDate: event.startDate ?? null,
    endDate: event.endDate ?? null,
    updatedAt: event.updatedAt ?? null,
    designCount: event.designCount,
  };
}

function publicDesign(design: DesignSummary) {
  return {
    id: design.id,
    localId: design.localId ?? null,
    eventId: design.eventId,
    title: design.title,
    eventName: design.eventName,
    eventDate: design.eventDate ?? null,
    updatedAt: design.updatedAt ?? null,
    authorName: design.authorName ?? null,
    shortDescr: design.shortDescr,
  };
}
