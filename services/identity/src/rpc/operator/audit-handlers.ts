// AuditService: translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  AuditEntrySchema,
  AuditService,
  AuditFilter as WireFilter,
} from '@course-exchange/proto/operator/v1/audit';
import type { Handlers } from '@course-exchange/runtime/rpc-server';
import type { AuditEntry } from '../../domain/audit-chain.ts';
import type { FieldChange } from '../../domain/change.ts';
import { followAudit, readAudit, verifyAudit } from '../../operator/audit/read-audit.ts';
import type { Desk } from '../../operator/desk.ts';
import type { AuditFilter } from '../../store/postgres/audit-log.ts';
import { actorOf } from './caller.ts';
import { changeMessages } from './change-message.ts';
import { optional } from './client-message.ts';
import { isoTime } from './times.ts';

const largestPage = 1_000;
const usualPage = 100;

export function createAuditHandlers(desk: Desk): Handlers<typeof AuditService> {
  return {
    listAuditEntries: async ({ filter, afterSequence, pageSize, newest }, call) => {
      actorOf(call);
      const page = {
        ...{ afterSequence: Number(afterSequence), newest },
        limit: Math.min(pageSize || usualPage, largestPage),
      };
      const { entries, more } = await readAudit(desk, readFilter(filter), page);
      return { entries: entries.map(entryMessage), more };
    },
    followAuditEntries: async function* ({ filter, afterSequence }, call) {
      actorOf(call);
      const after = afterSequence === undefined ? undefined : Number(afterSequence);
      for await (const entry of followAudit(desk, readFilter(filter), after, call.signal))
        yield { entry: entryMessage(entry) };
    },
    verifyAudit: async ({ expectedHead }, call) => {
      actorOf(call);
      const expected = expectedHead && {
        sequence: Number(expectedHead.sequence),
        hash: expectedHead.hash,
      };
      const { head, firstBreak } = await verifyAudit(desk, expected);
      return {
        intact: firstBreak === undefined,
        entries: BigInt(head.sequence),
        head: { sequence: BigInt(head.sequence), hash: head.hash },
        ...(firstBreak ? { firstBreak: { ...firstBreak, sequence: BigInt(firstBreak.sequence) } } : {}),
      };
    },
  };
}

function readFilter(filter: WireFilter | undefined): AuditFilter {
  const named = (text: string | undefined) => (text === '' ? undefined : text);
  return {
    since: isoTime(filter?.since),
    until: isoTime(filter?.until),
    actor: named(filter?.actor),
    clientId: named(filter?.clientId),
    object: named(filter?.object),
    action: named(filter?.action),
  };
}

function entryMessage(entry: AuditEntry): MessageInitShape<typeof AuditEntrySchema> {
  const { sequence, at, actor, action, object, clientId, requestId, fields, hash } = entry;
  const [change] = changeMessages([{ action, object, fields: JSON.parse(fields) as FieldChange[] }]);
  return {
    ...{ sequence: BigInt(sequence), actor, requestId, hash, clientId: clientId ?? '' },
    ...(change ? { change } : {}),
    ...optional('at', Date.parse(at)),
  };
}
