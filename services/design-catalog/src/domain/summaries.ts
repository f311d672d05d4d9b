// EventSummary and DesignSummary (specification §2) as the catalog reads them.
import type { StoredEventId } from './ids.ts';

/** ISO 8601, UTC, with `Z` and milliseconds (R23). */
type IsoTime = string;

export interface EventSummary {
  readonly eventId: StoredEventId;
  /** Event name of the design updated last (R22). */
  readonly name: string;
  readonly startDate: IsoTime | undefined;
  readonly endDate: IsoTime | undefined;
  readonly updatedAt: IsoTime | undefined;
  /** The true count, not capped. */
  readonly designCount: number;
}

export interface DesignSummary {
  readonly id: string;
  readonly localId: string | undefined;
  readonly title: string;
  readonly eventName: string;
  readonly eventDate: IsoTime | undefined;
  readonly updatedAt: IsoTime | undefined;
  readonly authorName: string | undefined;
  readonly shortDescr: string;
}

/** One Event and its designs, the latest update first, at most `mostDesigns`. */
export interface EventWithDesigns {
  readonly event: EventSummary;
  readonly designs: readonly DesignSummary[];
}

/** Designs in one answer (specification §8). */
export const mostDesigns = 500;
