// The audit log between its records and its messages, for every service that keeps one.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type {
  AuditEntrySchema,
  AuditFilter,
  AuditHead,
  VerifyAuditResponseSchema,
} from './generated/courseexchange/operator/v1/audit_service_pb.ts';

interface KeptEntry {
  readonly sequence: number;
  /** ISO 8601. */
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly object: string;
  readonly clientId: string | null;
  readonly requestId: string;
  /** The field changes as JSON. */
  readonly fields: string;
  readonly hash: string;
}
type KeptField = { readonly field: string; readonly before?: string; readonly after?: string };

export function auditEntryMessage(entry: KeptEntry): MessageInitShape<typeof AuditEntrySchema> {
  const { sequence, at, actor, action, object, clientId, requestId, fields, hash } = entry;
  const changed = (JSON.parse(fields) as KeptField[]).map(({ field, before = '', after = '' }) => ({
    ...{ field, before, after },
  }));
  return {
    ...{ sequence: BigInt(sequence), actor, requestId, hash, clientId: clientId ?? '' },
    change: { action, object, fields: changed },
    at: timestampFromMs(Date.parse(at)),
  };
}

/** Times become ISO 8601; what is empty or absent is undefined and matches everything. */
export function readAuditFilter(filter: AuditFilter | undefined) {
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

interface Place {
  readonly sequence: number;
  readonly hash: string;
}

export function readAuditHead(head: AuditHead | undefined): Place | undefined {
  return head && { sequence: Number(head.sequence), hash: head.hash };
}

export function auditVerdictMessage({
  head,
  firstBreak,
}: {
  readonly head: Place;
  readonly firstBreak: { readonly sequence: number; readonly reason: string } | undefined;
}): MessageInitShape<typeof VerifyAuditResponseSchema> {
  return {
    intact: firstBreak === undefined,
    entries: BigInt(head.sequence),
    head: { sequence: BigInt(head.sequence), hash: head.hash },
    ...(firstBreak ? { firstBreak: { ...firstBreak, sequence: BigInt(firstBreak.sequence) } } : {}),
  };
}
