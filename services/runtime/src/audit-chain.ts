// The hash chain of an audit log: each entry's hash covers the entry and the hash before it, so that no entry
// can be changed, left out or put in without breaking every hash after it.
import { createHash } from 'node:crypto';

/** An entry without its hash. */
export interface AuditRecord {
  /** 1, 2, 3, … */
  readonly sequence: number;
  /** ISO 8601 in UTC with milliseconds. */
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly object: string;
  readonly clientId: string | null;
  readonly requestId: string;
  /** The field changes as JSON, byte for byte as it is kept. */
  readonly fields: string;
}

export interface AuditEntry extends AuditRecord {
  /** SHA-256, hexadecimal. */
  readonly hash: string;
}

/** The hash before the first entry. */
export const chainStart = '0'.repeat(64);

export function chainHash(previous: string, record: AuditRecord): string {
  const { sequence, at, actor, action, object, clientId, requestId, fields } = record;
  const covered = JSON.stringify([
    previous,
    sequence,
    at,
    actor,
    action,
    object,
    clientId,
    requestId,
    fields,
  ]);
  return createHash('sha256').update(covered).digest('hex');
}

/** What is wrong with `entry` after `previous`, in one sentence; undefined when nothing is. */
export function chainBreak(
  previous: { readonly sequence: number; readonly hash: string },
  entry: AuditEntry,
): string | undefined {
  if (entry.sequence !== previous.sequence + 1) return `Entry ${previous.sequence + 1} is missing.`;
  if (entry.hash !== chainHash(previous.hash, entry))
    return `Entry ${entry.sequence} or the one before it was changed after it was written.`;
  return undefined;
}
