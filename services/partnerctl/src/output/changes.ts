// What a write did or would do, for people and programs alike.
import { type Change, ChangeSchema } from '@course-exchange/proto/operator/v1/change';
import { harmless, type Paint } from '../frame/terminal.ts';
import { type PlainObject, plain } from './plain.ts';

export function plainChanges(changes: readonly Change[]): readonly PlainObject[] {
  return changes.map((change) => plain(ChangeSchema, change));
}

const verb = { did: 'Changed', would: 'Would change' } as const;

/** A line per object and one per field; one sentence where nothing changed. Ends with a line break. */
export function changesText(changes: readonly Change[], dryRun: boolean, paint: Paint): string {
  if (changes.length === 0)
    return dryRun ? 'Nothing would change.\n' : 'Nothing changed: it already was so.\n';
  const head = dryRun ? verb.would : verb.did;
  return changes
    .flatMap((change) => [
      `${head} ${harmless(change.object)} ${paint('dim', `(${change.action})`)}`,
      ...change.fields.map((field) => `  ${harmless(field.field)}: ${fieldText(field, paint)}`),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

function fieldText(
  { before, after }: { readonly before: string; readonly after: string },
  paint: Paint,
): string {
  const old = before ? paint('red', harmless(before)) : '';
  const made = after ? paint('green', harmless(after)) : paint('dim', 'gone');
  return old ? `${old} → ${made}` : made;
}
