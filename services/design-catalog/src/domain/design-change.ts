// A change of one design as the platform sends it: the revision decides what holds, not the order of arrival.
import type { Owner } from './ids.ts';

export interface DesignChange {
  /** Ascending within its source. */
  readonly position: bigint;
  readonly owner: Owner;
  readonly id: string;
  readonly revision: bigint;
  /** Undefined: the design is deleted. */
  readonly design: ChangedDesign | undefined;
  /** Of a deletion; undefined: when it is applied. RFC 3339. */
  readonly deletedAt: string | undefined;
}

/** The whole design. Times are RFC 3339. */
export interface ChangedDesign {
  readonly localId: string | undefined;
  readonly eventId: string | undefined;
  readonly title: string;
  readonly eventName: string;
  readonly eventDate: string | undefined;
  readonly updatedAt: string | undefined;
  readonly authorName: string | undefined;
  readonly shortDescr: string;
}

/** Changes that are written together or not at all. */
export interface ChangeBatch {
  /** Empty: no resume point is kept. */
  readonly source: string;
  readonly changes: readonly DesignChange[];
  /** Nothing follows: the source's resume point is forgotten. */
  readonly last: boolean;
}

/** What became of changes. */
export interface Applied {
  readonly upserted: number;
  readonly deleted: number;
  /** Of a revision that is not higher than the stored one. */
  readonly ignored: number;
}

/** For each design its change of the highest revision; of equal ones the first. */
export function decidingChanges(changes: readonly DesignChange[]): DesignChange[] {
  const deciding = new Map<string, DesignChange>();
  for (const change of changes) {
    const key = `${change.owner}\0${change.id}`;
    const known = deciding.get(key);
    if (known === undefined || change.revision > known.revision) deciding.set(key, change);
  }
  return [...deciding.values()];
}
