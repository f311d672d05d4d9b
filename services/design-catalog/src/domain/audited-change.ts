// What the audit log is told of a write of the feed: counts and positions, nothing of what a design holds.
import type { Applied, ChangeBatch } from './design-change.ts';

export interface AuditedChange {
  readonly action: string;
  readonly object: string;
  /** `after` is JSON. */
  readonly fields: readonly { readonly field: string; readonly after: string }[];
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

/** `mended`: how many summaries. */
export function mendedSummaries(mended: number): AuditedChange {
  return { action: 'designs.repair', object: 'summaries', fields: fieldsOf({ mended }) };
}

function fieldsOf(values: Readonly<Record<string, number | bigint | true | undefined>>) {
  return Object.entries(values).flatMap(([field, value]) =>
    value === undefined ? [] : [{ field, after: jsonOf(value) }],
  );
}

/** A position that readers of JSON would round stands in quotes. */
function jsonOf(value: number | bigint | true): string {
  return typeof value === 'bigint' && value > Number.MAX_SAFE_INTEGER ? `"${value}"` : `${value}`;
}
