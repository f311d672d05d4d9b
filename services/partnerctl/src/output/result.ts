// The result of a command that changes something, for people and for scripts.
import type { Message } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { Change } from '@course-exchange/proto/operator/v1/change';
import type { CommandContext, Result } from '../cli/command.ts';
import { paint, sanitize } from '../cli/terminal.ts';
import { fieldsOf } from './json.ts';
import { localTime } from './table.ts';

export interface ChangeResponse extends Message {
  readonly changes: readonly Change[];
  readonly accessTokensEndAt?: Timestamp | undefined;
}

/** `more`: text below the changes. `json` overrides fields of the response. */
export function changeResult(
  { dryRun }: CommandContext,
  response: ChangeResponse,
  more = '',
  json: Readonly<Record<string, unknown>> = {},
): Result {
  const text = changesText(response.changes, dryRun) + more;
  const { accessTokensEndAt: end } = response;
  // An access token cannot be revoked (specification §3).
  const tokens = `Access tokens already issued stay valid for up to 15 minutes; the last one expires at ${localTime(end)}.\n`;
  return {
    json: { dryRun, ...fieldsOf(response), ...json },
    text: end === undefined || dryRun ? text : text + tokens,
  };
}

export function changesText(changes: readonly Change[], dryRun: boolean): string {
  if (changes.length === 0) return dryRun ? 'Nothing would change.\n' : 'Nothing changed.\n';
  return changes
    .flatMap(({ object, action, fields }) => [
      `${verbOf(action, dryRun)} ${sanitize(object)} ${paint('dim', `(${action})`)}\n`,
      ...fields.map((field) => `  ${fieldText(field)}\n`),
    ])
    .join('');
}

function verbOf(action: string, dryRun: boolean): string {
  const creates = ['client.register', 'secret.add', 'key.stage'].includes(action);
  if (dryRun) return creates ? 'Would create' : 'Would change';
  return creates ? 'Created' : 'Changed';
}

export function fieldText({ field, before, after }: Change['fields'][number]): string {
  const now = after ? paint('green', sanitize(after)) : paint('dim', 'gone');
  return `${sanitize(field)}: ${before ? `${paint('red', sanitize(before))} → ` : ''}${now}`;
}
