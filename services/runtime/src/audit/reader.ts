// An audit log as it is read, followed and checked.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queries } from '../postgres/pool.ts';
import {
  type AuditEntry,
  type AuditFilter,
  type AuditHead,
  chainHash,
  chainStart,
  listAudit,
  readAuditHead,
} from './table.ts';

export interface AuditPage {
  readonly afterSequence: number;
  readonly limit: number;
  readonly newest: boolean;
}

/** Oldest first; `more`: others match after the last one. */
export async function readAudit(
  database: Queries,
  filter: AuditFilter,
  page: AuditPage,
): Promise<{ readonly entries: readonly AuditEntry[]; readonly more: boolean }> {
  const found = await listAudit(database, filter, {
    ...page,
    limit: page.limit + (page.newest ? 0 : 1),
  });
  return { entries: found.slice(0, page.limit), more: found.length > page.limit };
}

const followPause = 500;
const followBatch = 500;

/** Entries as they come, until `signal` aborts. Sequence numbers are seen in their order, so none is missed. */
export async function* followAudit(
  database: Queries,
  filter: AuditFilter,
  afterSequence: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<AuditEntry> {
  let after = afterSequence ?? (await readAuditHead(database)).sequence;
  while (!signal.aborted) {
    const { sequence: end } = await readAuditHead(database);
    const entries =
      end > after ? await listAudit(database, filter, { afterSequence: after, limit: followBatch }) : [];
    yield* entries;
    const last = entries.at(-1);
    after =
      entries.length === followBatch && last ? last.sequence : Math.max(after, end, last?.sequence ?? 0);
    if (entries.length < followBatch) await sleep(followPause);
  }
}

export interface AuditVerification {
  readonly head: AuditHead;
  readonly firstBreak: { readonly sequence: number; readonly reason: string } | undefined;
}

const verifyBatch = 2_000;

/** Recomputes every hash. `expected`: an end of the chain that was noted elsewhere. */
export async function verifyAudit(
  database: Queries,
  expected: AuditHead | undefined,
): Promise<AuditVerification> {
  let end: AuditHead = { sequence: 0, hash: chainStart };
  for (;;) {
    const entries = await listAudit(database, {}, { afterSequence: end.sequence, limit: verifyBatch });
    for (const entry of entries) {
      const reason = chainBreak(end, entry) ?? unexpected(entry, expected);
      if (reason !== undefined) return { head: end, firstBreak: { sequence: entry.sequence, reason } };
      end = { sequence: entry.sequence, hash: entry.hash };
    }
    if (entries.length < verifyBatch) break;
  }
  const cut = expected !== undefined && expected.sequence > end.sequence;
  const reason = `The log ends at entry ${end.sequence}; it once went to ${expected?.sequence}.`;
  return { head: end, firstBreak: cut ? { sequence: end.sequence + 1, reason } : undefined };
}

/** What is wrong with `entry` after `previous`, in one sentence. */
function chainBreak(previous: AuditHead, entry: AuditEntry): string | undefined {
  if (entry.sequence !== previous.sequence + 1) return `Entry ${previous.sequence + 1} is missing.`;
  if (entry.hash !== chainHash(previous.hash, entry))
    return `Entry ${entry.sequence} or the one before it was changed after it was written.`;
  return undefined;
}

function unexpected({ sequence, hash }: AuditEntry, expected: AuditHead | undefined): string | undefined {
  return expected?.sequence === sequence && expected.hash !== hash
    ? `Entry ${sequence} is not the one that was noted: the log was written anew.`
    : undefined;
}
