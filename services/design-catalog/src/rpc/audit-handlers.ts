// AuditService on the feed's port: translation only.
import {
  auditEntryMessage,
  auditVerdictMessage,
  readAuditFilter,
  readAuditHead,
} from '@course-exchange/proto/audit-messages';
import type { AuditService } from '@course-exchange/proto/operator/v1/audit';
import {
  type AuditSource,
  followAudit,
  readAudit,
  verifyAudit,
} from '@course-exchange/runtime/audit-reading';
import { actorOf } from '@course-exchange/runtime/caller-name';
import type { Handlers } from '@course-exchange/runtime/rpc-server';

const largestPage = 1_000;
const usualPage = 100;

export function createAuditHandlers(source: AuditSource): Handlers<typeof AuditService> {
  return {
    listAuditEntries: async ({ filter, afterSequence, pageSize, newest }, call) => {
      actorOf(call);
      const page = {
        ...{ afterSequence: Number(afterSequence), newest },
        limit: Math.min(pageSize || usualPage, largestPage),
      };
      const { entries, more } = await readAudit(source, readAuditFilter(filter), page);
      return { entries: entries.map(auditEntryMessage), more };
    },
    followAuditEntries: async function* ({ filter, afterSequence }, call) {
      actorOf(call);
      const after = afterSequence === undefined ? undefined : Number(afterSequence);
      for await (const entry of followAudit(source, readAuditFilter(filter), after, call.signal))
        yield { entry: auditEntryMessage(entry) };
    },
    verifyAudit: async ({ expectedHead }, call) => {
      actorOf(call);
      return auditVerdictMessage(await verifyAudit(source, readAuditHead(expectedHead)));
    },
  };
}
