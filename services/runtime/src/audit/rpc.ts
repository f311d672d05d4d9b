// AuditService of every service that has an audit log: translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type {
  AuditEntrySchema,
  AuditService,
  VerifyAuditResponseSchema,
  AuditFilter as WireFilter,
} from '@course-exchange/proto/operator/v1/audit';
import { pageLimit } from '../grpc/incoming-call.ts';
import type { Handlers } from '../grpc/server.ts';
import type { Queries } from '../postgres/pool.ts';
import { runtimeMetrics } from '../process/runtime-metrics.ts';
import { type AuditVerification, followAudit, readAudit, verifyAudit } from './reader.ts';
import { type AuditEntry, type AuditedChange, type AuditFilter, readAuditHead } from './table.ts';

export function createAuditHandlers(database: Queries): Handlers<typeof AuditService> {
  runtimeMetrics.auditSequence.observe(async () => [[(await readAuditHead(database)).sequence, {}]]);
  return {
    listAuditEntries: async ({ filter, afterSequence, pageSize, newest }) => {
      const page = { afterSequence: Number(afterSequence), limit: pageLimit(pageSize), newest };
      const { entries, more } = await readAudit(database, readFilter(filter), page);
      return { entries: entries.map(entryMessage), more };
    },
    followAuditEntries: async function* ({ filter, afterSequence }, call) {
      const after = afterSequence === undefined ? undefined : Number(afterSequence);
      for await (const entry of followAudit(database, readFilter(filter), after, call.signal))
        yield { entry: entryMessage(entry) };
    },
    verifyAudit: async ({ expectedHead }) => {
      const expected = expectedHead && {
        sequence: Number(expectedHead.sequence),
        hash: expectedHead.hash,
      };
      return verificationMessage(await verifyAudit(database, expected));
    },
  };
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

/** What is empty or absent matches everything. */
function readFilter(filter: WireFilter | undefined): AuditFilter {
  const named = (text: string | undefined) => (text === '' ? undefined : text);
  const isoTime = (time: Timestamp | undefined) => time && timestampDate(time).toISOString();
  return {
    since: isoTime(filter?.since),
    until: isoTime(filter?.until),
    actor: named(filter?.actor),
    clientId: named(filter?.clientId),
    object: named(filter?.object),
    action: named(filter?.action),
  };
}

function verificationMessage({
  head,
  firstBreak,
}: AuditVerification): MessageInitShape<typeof VerifyAuditResponseSchema> {
  return {
    intact: firstBreak === undefined,
    entries: BigInt(head.sequence),
    head: { sequence: BigInt(head.sequence), hash: head.hash },
    ...(firstBreak ? { firstBreak: { ...firstBreak, sequence: BigInt(firstBreak.sequence) } } : {}),
  };
}
