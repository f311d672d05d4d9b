// audit/ is the audit log of a service, and how operators read it. What is audited is decided by the services.

// The audit log, table `audit_log` of a schema: every operator's change, append-only, as a hash chain that is followed
// and verified.
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { allRows, firstRow, type Queries } from '../postgres/pool.ts';
import { type Logger, logText } from '../process/logger.ts';
import { countSecurityEvent } from '../process/runtime-metrics.ts';

export interface AuditEntry {
  readonly sequence: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly object: string;
  readonly clientId: string | null;
  readonly requestId: string;
  /** JSON, byte for byte as stored. */
  readonly fields: string;
  /** SHA-256, hexadecimal. */
  readonly hash: string;
}

type AuditRecord = Omit<AuditEntry, 'hash'>;

const chainStart = '0'.repeat(64);

const covered = ['sequence', 'at', 'actor', 'action', 'object', 'clientId', 'requestId', 'fields'] as const;

function chainHash(previous: string, record: AuditRecord): string {
  return hash('sha256', JSON.stringify([previous, ...covered.map((name) => record[name])]));
}

export interface AuditedChange {
  /** Noun and verb: `client.edit`. */
  readonly action: string;
  /** Kind and identifier: `client:acme`. */
  readonly object: string;
  readonly clientId?: string;
  /** `before` and `after` are JSON texts. */
  readonly fields: readonly { readonly field: string; readonly before?: string; readonly after?: string }[];
}

export interface AuditOrigin {
  readonly actor: string;
  readonly requestId: string;
  /** ISO 8601 in UTC with milliseconds. */
  readonly at: string;
}

/** `at`, `before` and `after` as they were written. */
export function entryHash(
  previous: string,
  sequence: number,
  origin: AuditOrigin,
  change: AuditedChange,
): string {
  return chainHash(previous, recordOf(sequence, origin, change));
}

function recordOf(sequence: number, origin: AuditOrigin, change: AuditedChange): AuditRecord {
  const { action, object, clientId, fields } = change;
  return {
    ...origin,
    ...{ sequence, action, object },
    clientId: clientId ?? null,
    fields: JSON.stringify(fields),
  };
}

export interface AuditHead {
  /** 0 when the log is empty. */
  readonly sequence: number;
  readonly hash: string;
}

export interface AppendedHead extends AuditHead {
  readonly previous: string;
}

// One writer per schema: sequence numbers have no gaps and appear in order.
const lock = allRows(
  'lock audit log',
  `select pg_advisory_xact_lock(hashtext(current_schema() || ' audit log'))`,
);

const findHead = firstRow<AuditHead>(
  'audit head',
  `select sequence::float8 as sequence, encode(hash, 'hex') as hash from audit_log
    order by sequence desc limit 1`,
);

export async function readAuditHead(database: Queries): Promise<AuditHead> {
  return (await findHead(database)) ?? { sequence: 0, hash: chainStart };
}

const append = {
  name: 'append to audit log',
  text: `insert into audit_log (sequence, at, actor, action, object, client_id, request_id, fields, hash)
    select sequence, $1::timestamptz, $2::text, action, object, client_id, $3::text, fields, hash
    from unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::json[], $9::bytea[])
      as entry (sequence, action, object, client_id, fields, hash)`,
};

/** Locks the log until the transaction ends: call it last. */
export async function appendToAudit(
  queries: Queries,
  { actor, requestId, at }: AuditOrigin,
  changes: readonly AuditedChange[],
): Promise<AppendedHead> {
  await lock(queries);
  let end = await readAuditHead(queries);
  const previous = end.hash;
  const entries = changes.map((change) => {
    const record = recordOf(end.sequence + 1, { actor, requestId, at }, change);
    end = { sequence: record.sequence, hash: chainHash(end.hash, record) };
    return { ...record, hash: end.hash };
  });
  const columns = (['sequence', 'action', 'object', 'clientId', 'fields'] as const).map((column) =>
    entries.map((entry) => entry[column]),
  );
  const hashes = entries.map(({ hash }) => Buffer.from(hash, 'hex'));
  await queries.query(append, [at, actor, requestId, ...columns, hashes]);
  return { ...end, previous };
}

const operatorChange = 'operator.change';

/**
 * Outside the database, so that a truncated or rewritten log is detected, and after a restore it is known what ended
 * (`endings`: `secret.retire secret:<id>`).
 */
export function logAuditHead(
  logger: Logger,
  { sequence, hash, previous }: AppendedHead,
  actor: string,
  endings: readonly string[] = [],
): void {
  countSecurityEvent(operatorChange);
  logger.record('audited', {
    event: logText(operatorChange),
    sequence,
    hash: logText(hash),
    previous: logText(previous),
    operator: logText(actor),
    ...(endings.length === 0 ? {} : { endings: logText(endings.join(', ')) }),
  });
}

/** Empty or absent fields match everything. Times are ISO 8601. */
export interface AuditFilter {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly actor?: string | undefined;
  readonly clientId?: string | undefined;
  readonly object?: string | undefined;
  /** Whole, or the noun before the dot. */
  readonly action?: string | undefined;
}

const columns = `sequence::float8 as sequence,
    to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, actor, action, object,
    client_id as "clientId", request_id as "requestId", fields::text as fields, encode(hash, 'hex') as hash`;

const matching = `($2::timestamptz is null or at >= $2) and ($3::timestamptz is null or at < $3)
    and ($4::text is null or actor = $4) and ($5::text is null or client_id = $5)
    and ($6::text is null or object = $6)
    and ($7::text is null or action = $7 or split_part(action, '.', 1) = $7)`;

// Indexes: audit_log_pkey, audit_log_object, audit_log_client.
const listing = (name: string, order: 'asc' | 'desc') => ({
  name,
  text: `select * from (select ${columns} from audit_log where sequence > $1 and ${matching}
    order by sequence ${order} limit $8) as found order by sequence`,
});
const oldest = listing('audit entries', 'asc');
const newest = listing('newest audit entries', 'desc');

interface AuditPage {
  readonly afterSequence: number;
  readonly limit: number;
  readonly newest?: boolean;
}

/** Oldest first: the first `limit` after `afterSequence`, or the last. */
export async function listAudit(
  database: Queries,
  { since, until, actor, clientId, object, action }: AuditFilter,
  page: AuditPage,
): Promise<AuditEntry[]> {
  const wanted = [since, until, actor, clientId, object, action].map((value) => value || null);
  const statement = page.newest ? newest : oldest;
  return database.query<AuditEntry>(statement, [page.afterSequence, ...wanted, page.limit]);
}

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
    ? `Entry ${sequence} is not the one that was noted: the log was rewritten.`
    : undefined;
}
