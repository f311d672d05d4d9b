// output/ is what a command prints: text for people, JSON for scripts, errors with their exit codes, questions to a terminal.

// The result of a command: changes as text, and JSON with every field of a message, absent as null, times in UTC, states
// in lower case.
import { createRegistry, type DescEnum, isMessage, type Message } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';
import { FeedService } from '@course-exchange/proto/feed/v1';
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { type Change, ChangeSchema, FieldChangeSchema } from '@course-exchange/proto/operator/v1/change';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { KeyService } from '@course-exchange/proto/operator/v1/key';
import { RestoreService } from '@course-exchange/proto/operator/v1/restore';
import { SecretService } from '@course-exchange/proto/operator/v1/secret';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import type { Exit } from './errors.ts';
import { localTime } from './table.ts';
import { escapeControlChars, paint, sanitize } from './terminal.ts';

export interface Result {
  /** Printed with --json. */
  readonly json: unknown;
  readonly text: string;
  readonly exit?: Exit;
  readonly textToStderr?: boolean;
}

export interface ChangeResponse extends Message {
  readonly changes: readonly Change[];
  readonly accessTokensEndAt?: Timestamp | undefined;
}

/** `more`: text below the changes. `json` overrides fields of the response. */
export function changeResult(
  { dryRun }: { readonly dryRun: boolean },
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

const registry = createRegistry(
  ...[AuditService, ClientService, ConsentService, FeedService, KeyService].map(({ file }) => file),
  ...[RestoreService, SecretService, UserService, ChangeSchema].map(({ file }) => file),
);

export function jsonText(value: unknown, indent?: number): string {
  return escapeControlChars(JSON.stringify(toJson(value), null, indent));
}

function toJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'bigint') return Number(value);
  if (isMessage(value)) return messageJson(value);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toJson(one)]));
}

function messageJson(message: Message): unknown {
  if (isMessage(message, TimestampSchema)) return timestampDate(message).toISOString();
  if (!isMessage(message, FieldChangeSchema)) return fieldsOf(message);
  const { field, before, after } = message;
  // A change's values travel as JSON text.
  const [was, is] = [before, after].map((text) => (text ? JSON.parse(text) : null));
  return { field, before: was, after: is };
}

export function fieldsOf(message: Message): Readonly<Record<string, unknown>> {
  const values = message as unknown as Readonly<Record<string, unknown>>;
  const fields = registry.getMessage(message.$typeName)?.fields ?? [];
  const entries = fields.map(({ localName, enum: names }) => {
    const value = values[localName];
    return [localName, names ? enumName(names, value) : toJson(value)] as const;
  });
  return Object.fromEntries(entries);
}

/** `APPROVAL_STATE_NEAR_EXPIRY` of `ApprovalState` becomes `near_expiry`. */
export function enumName({ values, sharedPrefix = '' }: DescEnum, number: unknown): string {
  const name = values.find((value) => value.number === number)?.name ?? String(number);
  const word = name.toLowerCase().replace(sharedPrefix, '');
  return /^[er]s256$/.test(word) ? word.toUpperCase() : word;
}
