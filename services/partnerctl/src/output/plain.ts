// Messages as programs get them under --json: every field, absent as null, times in UTC, states in small letters.
import type { DescField, DescMessage, Message, MessageShape } from '@bufbuild/protobuf';
import { isMessage } from '@bufbuild/protobuf';
import { type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import { type Timestamp, TimestampSchema, timestampDate } from '@bufbuild/protobuf/wkt';

type Plain = string | number | boolean | null | readonly Plain[] | { readonly [name: string]: Plain };
export type PlainObject = { readonly [name: string]: Plain };

/** `message` as an object of the names of its fields. */
export function plain<D extends DescMessage>(schema: D, message: MessageShape<D>): PlainObject {
  return plainMessage(reflect(schema, message));
}

function plainMessage(message: ReflectMessage): PlainObject {
  const entries = message.fields.map((field) => [field.localName, plainField(field, message)]);
  return Object.fromEntries(entries);
}

function plainField(field: DescField, message: ReflectMessage): Plain {
  if (field.fieldKind === 'list') {
    return [...message.get(field)].map((item) => plainValue(field, item));
  }
  if (field.presence !== implicit && !message.isSet(field)) return null;
  return plainValue(field, message.get(field));
}

/** FeatureSet.FieldPresence.IMPLICIT: a proto3 scalar without `optional`, which is always there. */
const implicit = 2;

function plainValue(field: DescField, value: unknown): Plain {
  if ('enum' in field && field.enum) return enumWord(field.enum, Number(value));
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  const nested = value as ReflectMessage;
  const inner: Message = nested.message;
  if (isMessage(inner, TimestampSchema)) return timestampDate(inner).toISOString();
  if (nested.desc.name === 'FieldChange') return changeOf(nested);
  return plainMessage(nested);
}

/** `APPROVAL_STATE_NEAR_EXPIRY` of `ApprovalState` is `near_expiry`. */
function enumWord(
  {
    values,
    sharedPrefix,
  }: {
    readonly values: readonly { readonly name: string; readonly number: number }[];
    readonly sharedPrefix?: string | undefined;
  },
  number: number,
): string {
  const name = values.find((value) => value.number === number)?.name ?? String(number);
  const word = name.toLowerCase().replace(sharedPrefix ?? '', '');
  // Algorithms are written as in JOSE.
  return /^[er]s256$/.test(word) ? word.toUpperCase() : word;
}

/** Before and after travel as JSON text. */
function changeOf(message: ReflectMessage): PlainObject {
  const { field, before, after } = Object.fromEntries(
    message.fields.map((one) => [one.localName, String(message.get(one))]),
  );
  return { field: field ?? '', before: parsed(before), after: parsed(after) };
}

function parsed(text: string | undefined): Plain {
  return text ? (JSON.parse(text) as Plain) : null;
}

export function dateOf(time: Timestamp | undefined): Date | undefined {
  return time === undefined ? undefined : timestampDate(time);
}
