// The records of specification §2, read from JSON. Nullable fields may be null; anything else that does not
// fit is refused, so that a page never shows half an answer.
import { PartnerFailure } from './partner-failure.ts';

export interface EventSummary {
  readonly id: string;
  readonly name: string;
  readonly startDate: string | null;
  readonly endDate: string | null;
  readonly updatedAt: string | null;
  readonly designCount: number;
}

export interface DesignSummary {
  readonly id: string;
  readonly localId: string | null;
  readonly eventId: string;
  readonly title: string;
  readonly eventName: string;
  readonly eventDate: string | null;
  readonly updatedAt: string | null;
  readonly authorName: string | null;
  readonly shortDescr: string;
}

/** The items of `GET /api/events`. Throws PartnerFailure `unavailable` when the body is not one. */
export function readEvents(body: unknown): readonly EventSummary[] {
  return itemsOf(body).map(readEvent);
}

/** The body of `GET /api/events/{eventId}/designs`. Throws as readEvents does. */
export function readDesigns(body: unknown): {
  readonly event: EventSummary;
  readonly items: readonly DesignSummary[];
} {
  return { event: readEvent(record(body).event), items: itemsOf(body).map(readDesign) };
}

function readEvent(value: unknown): EventSummary {
  const event = record(value);
  return {
    id: string(event.id),
    name: string(event.name),
    startDate: stringOrNull(event.startDate),
    endDate: stringOrNull(event.endDate),
    updatedAt: stringOrNull(event.updatedAt),
    designCount: number(event.designCount),
  };
}

function readDesign(value: unknown): DesignSummary {
  const design = record(value);
  return {
    id: string(design.id),
    localId: stringOrNull(design.localId),
    eventId: string(design.eventId),
    title: string(design.title),
    eventName: string(design.eventName),
    eventDate: stringOrNull(design.eventDate),
    updatedAt: stringOrNull(design.updatedAt),
    authorName: stringOrNull(design.authorName),
    shortDescr: string(design.shortDescr),
  };
}

function itemsOf(body: unknown): readonly unknown[] {
  const { items } = record(body);
  return Array.isArray(items) ? items : unreadable();
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : unreadable();
}

function string(value: unknown): string {
  return typeof value === 'string' ? value : unreadable();
}

function stringOrNull(value: unknown): string | null {
  return value === null ? null : string(value);
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : unreadable();
}

function unreadable(): never {
  throw new PartnerFailure('unavailable');
}
