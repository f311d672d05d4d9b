// Reads, follows and verifies an audit log.
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

const followPause = 500;
const followBatch = 500;

/** Until `signal` aborts. Sequence numbers become visible in order, so none is missed. */
export async function* followAudit(
  database: Queries,
  filter: AuditFilter,
  afterSequence: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<AuditEntry> {
  let after = afterSequence ?? (await readAuditHead(database)).sequence;
  while (!signal.aborted) {
    const { sequence: end } = await readAuditHead(database);
    const entries = await listAudit(database, filter, { afterSequence: after, limit: followBatch });
    yield* entries;
    const last = entries.at(-1)?.sequence ?? after;
    const isWhole = entries.length < followBatch;
    after = isWhole ? Math.max(end, last) : last;
    if (isWhole) await sleep(followPause);
  }
}

const verifyBatch = 2_000;

/** Recomputes every hash. `expected`: a head of the chain recorded elsewhere. */
export async function verifyAudit(database: Queries, expected: AuditHead | undefined) {
  let end: AuditHead = { sequence: 0, hash: chainStart };
  for (;;) {
    const entries = await listAudit(database, {}, { afterSequence: end.sequence, limit: verifyBatch });
    for (const entry of entries) {
      const reason = chainBreak(end, entry, expected);
      if (reason !== undefined) return { head: end, firstBreak: { sequence: entry.sequence, reason } };
      end = { sequence: entry.sequence, hash: entry.hash };
    }
    if (entries.length < verifyBatch) break;
  }
  const cut = expected !== undefined && expected.sequence > end.sequence;
  const reason = `The log ends at entry ${end.sequence}; it once went to ${expected?.sequence}.`;
  return { head: end, firstBreak: cut ? { sequence: end.sequence + 1, reason } : undefined };
}

function chainBreak(
  previous: AuditHead,
  entry: AuditEntry,
  expected: AuditHead | undefined,
): string | undefined {
  const { sequence, hash } = entry;
  if (sequence !== previous.sequence + 1) return `Entry ${previous.sequence + 1} is missing.`;
  if (hash !== chainHash(previous.hash, entry))
    return `Entry ${sequence} or the one before it was changed after it was written.`;
  return sequence === expected?.sequence && hash !== expected.hash
    ? `Entry ${sequence} is not the one that was noted: the log was written anew.`
    : undefined;
}
