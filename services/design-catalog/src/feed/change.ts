// A change of one design: its revision decides, not the order of arrival.
import type { DesignUpsertFields } from '@course-exchange/rules/design-change';
import type { AuditedChange } from '@course-exchange/runtime/audit/table';
import type { Owner } from '../events/event.ts';

export interface DesignChange {
  /** Ascending within its source. */
  readonly position: bigint;
  readonly owner: Owner;
  readonly id: string;
  readonly revision: bigint;
  /** Undefined: the design is deleted. */
  readonly design: DesignUpsertFields | undefined;
  /** RFC 3339; undefined: the time when it is applied. */
  readonly deletedAt: string | undefined;
}

export interface ChangeBatch {
  /** Empty: no resume point is kept. */
  readonly source: string;
  readonly changes: readonly DesignChange[];
  /** The source's resume point is deleted. */
  readonly last: boolean;
}

export interface Applied {
  readonly upserted: number;
  readonly deleted: number;
  /** Their revision is not higher than the stored one. */
  readonly ignored: number;
}

/** By highest revision per design; of equal ones the first. */
export function decidingChanges(changes: readonly DesignChange[]): DesignChange[] {
  const deciding = new Map<string, DesignChange>();
  for (const change of changes) {
    const key = `${change.owner}\0${change.id}`;
    const known = deciding.get(key);
    if (known === undefined || change.revision > known.revision) deciding.set(key, change);
  }
  return [...deciding.values()];
}

export function appliedBatch({ source, changes, last }: ChangeBatch, applied: Applied): AuditedChange {
  const { upserted, deleted, ignored } = applied;
  const [from, to] = [changes.at(0)?.position, changes.at(-1)?.position];
  return {
    action: 'designs.apply',
    object: `source:${source}`,
    fields: fieldsOf({ upserted, deleted, ignored, from, to, ended: last ? true : undefined }),
  };
}

/** `repaired`: how many summaries. */
export function repairedSummaries(repaired: number): AuditedChange {
  return { action: 'designs.repair', object: 'summaries', fields: fieldsOf({ repaired }) };
}

function fieldsOf(values: Readonly<Record<string, number | bigint | true | undefined>>) {
  return Object.entries(values).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, after: jsonOf(value) }],
  );
}

/** A position that JSON readers would round becomes a string. */
function jsonOf(value: number | bigint | true): string {
  return typeof value === 'bigint' && value > Number.MAX_SAFE_INTEGER ? `"${value}"` : `${value}`;
}
