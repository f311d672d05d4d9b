// The output of --json: every field of a message, absent as null, times in UTC, states in lower case.
import { createRegistry, type DescEnum, isMessage, type Message } from '@bufbuild/protobuf';
import { TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';
import { FeedService } from '@course-exchange/proto/feed/v1';
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { ChangeSchema, FieldChangeSchema } from '@course-exchange/proto/operator/v1/change';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { KeyService } from '@course-exchange/proto/operator/v1/key';
import { RestoreService } from '@course-exchange/proto/operator/v1/restore';
import { SecretService } from '@course-exchange/proto/operator/v1/secret';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { escapeControlChars } from '../cli/terminal.ts';

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
