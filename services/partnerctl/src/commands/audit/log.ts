// Which audit log is meant: each service keeps its own, in the schema that it writes.
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import type { Call } from '../../frame/call.ts';
import { choice } from '../../frame/options.ts';

export const logOption = choice(
  '<log>',
  ['identity', 'designs'],
  'Of clients, users, consents and keys (identity, the usual one), or of imported designs (designs)',
);

export function auditOf({ services }: Call, log: 'identity' | 'designs' = 'identity') {
  return log === 'identity' ? services.identity(AuditService) : services.catalog(AuditService);
}
