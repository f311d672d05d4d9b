// AuditService of every service with an audit log: translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type {
  AuditEntrySchema,
  AuditService,
  AuditFilter as WireFilter,
} from '@course-exchange/proto/operator/v1/audit';
import { pageLimit, readTime } from '../grpc/incoming-call.ts';
import type { Handlers } from '../grpc/server.ts';
import type { Queries } from '../postgres/pool.ts';
import { runtimeMetrics } from '../process/runtime-metrics.ts';
import {
  type AuditEntry,
  type AuditedChange,
  type AuditFilter,
  followAudit,
  listAudit,
  readAuditHead,
  verifyAudit,
} from './table.ts';

export function createAuditHandlers(database: Queries): Handlers<typeof AuditService> {
  runtimeMetrics.auditSequence.observe(async () => [[(await readAuditHead(database)).sequence, {}]]);
  return {
    listAuditEntries: async ({ filter, afterSequence, pageSize, newest }) => {
      const limit = pageLimit(pageSize);
      const page = { afterSequence: sequenceOf(afterSequence), limit: limit + (newest ? 0 : 1), newest };
      const found = await listAudit(database, readFilter(filter), page);
      return { entries: found.slice(0, limit).map(entryMessage), more: found.length > limit };
    },
    followAuditEntries: async function* ({ filter, afterSequence }, call) {
      const after = afterSequence === undefined ? undefined : sequenceOf(afterSequence);
      for await (const entry of followAudit(database, readFilter(filter), after, call.signal()))
        yield { entry: entryMessage(entry) };
    },
    verifyAudit: async ({ expectedHead }) => {
      const expected = expectedHead && { ...expectedHead, sequence: Number(expectedHead.sequence) };
      const { head, firstBreak } = await verifyAudit(database, expected);
      const entries = BigInt(head.sequence);
      return {
        intact: firstBreak === undefined,
        entries,
        head: { ...head, sequence: entries },
        ...(firstBreak && { firstBreak: { ...firstBreak, sequence: BigInt(firstBreak.sequence) } }),
      };
    },
  };
}

/** No log is as long, and Postgres has no unsigned numbers. */
function sequenceOf(sent: bigint): number {
  return Math.min(Number(sent), Number.MAX_SAFE_INTEGER);
}

function entryMessage(entry: AuditEntry): MessageInitShape<typeof AuditEntrySchema> {
  const { sequence, at, actor, action, object, clientId, requestId, fields, hash } = entry;
  const changed = JSON.parse(fields) as AuditedChange['fields'];
  return {
    sequence: BigInt(sequence),
    actor,
    requestId,
    hash,
    clientId: clientId ?? '',
    change: {
      action,
      object,
      fields: changed.map(({ field, before = '', after = '' }) => ({ field, before, after })),
    },
    at: timestampFromMs(Date.parse(at)),
  };
}

function readFilter({ since, until, ...named }: Partial<WireFilter> = {}): AuditFilter {
  const isoTime = (time: Timestamp | undefined) => {
    const milliseconds = readTime(time);
    return milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();
  };
  return { ...named, since: isoTime(since), until: isoTime(until) };
}
