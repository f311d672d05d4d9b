// Shared by the operator services on the wire. Translation only.
import type { MessageInitShape } from '@bufbuild/protobuf';
import { type Duration, type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { ChangeSchema } from '@course-exchange/proto/operator/v1/change';
import { tokenLifetime } from '@course-exchange/rules/access-token';
import { inMilliseconds } from '@course-exchange/rules/brand';
import type { AuditedChange } from '@course-exchange/runtime/audit/table';
import { callerOf, type IncomingCall } from '@course-exchange/runtime/grpc/incoming-call';
import { DetailedFailure } from '@course-exchange/runtime/process/errors';
import type { AdminRequest } from './context.ts';

/** Throws `permission_denied` for an anonymous call. */
export function adminRequest(call: IncomingCall, { dryRun }: { readonly dryRun: boolean }): AdminRequest {
  return { ...callerOf(call), dryRun };
}

export function changeMessages(changes: readonly AuditedChange[]): MessageInitShape<typeof ChangeSchema>[] {
  return changes.map(({ action, object, fields }) => ({
    action,
    object,
    fields: fields.map(({ field, before = '', after = '' }) => ({ field, before, after })),
  }));
}

/** `times`: milliseconds; absent ones are left out. */
export function timestamps<T extends Readonly<Record<string, number | null | undefined>>>(times: T) {
  const given = Object.entries(times).flatMap(([name, milliseconds]) =>
    milliseconds == null ? [] : [[name, timestampFromMs(Math.round(milliseconds))]],
  );
  return Object.fromEntries(given) as { [Name in keyof T]?: Timestamp };
}

/** `words`: where the page ended. */
export function pageTokenOf(...words: readonly (string | number | boolean)[]): string {
  return Buffer.from(words.join('|')).toString('base64url');
}

/** The groups of `form`; none for the first page. Throws `invalid_argument`. */
export function readPageToken(token: string, form: RegExp): readonly string[] {
  if (token === '') return [];
  const found = form.exec(Buffer.from(token, 'base64url').toString());
  if (!found) throw new DetailedFailure('invalid_argument', 'The page token is not one of ours.');
  return found.slice(1);
}

export function durationMs(duration: Duration | undefined): number | null {
  return duration ? Number(duration.seconds) * 1000 + Math.floor(duration.nanos / 1e6) : null;
}

export function accessTokensEndAt(now: number) {
  return timestamps({ accessTokensEndAt: now + inMilliseconds(tokenLifetime) });
}
