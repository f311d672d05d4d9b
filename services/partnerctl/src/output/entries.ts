// Audit entries as people read them.
import type { AuditEntry } from '@course-exchange/proto/operator/v1/audit';
import { harmless, type Paint } from '../frame/terminal.ts';
import { dateOf } from './plain.ts';
import { localTime } from './times.ts';

/** One line, and one below it for each field. Ends with a line break. */
export function entryText({ sequence, at, actor, change, requestId }: AuditEntry, paint: Paint): string {
  const words = [localTime(dateOf(at)), actor, change?.action ?? '', change?.object ?? ''].map(harmless);
  const head = `${paint('dim', String(sequence).padStart(6))}  ${words.join('  ')}  ${paint('dim', harmless(requestId))}`;
  const below = (change?.fields ?? []).map(
    ({ field, before, after }) =>
      `        ${harmless(field)}: ${before ? `${harmless(before)} → ` : ''}${after ? harmless(after) : 'gone'}`,
  );
  return `${[head, ...below].join('\n')}\n`;
}
