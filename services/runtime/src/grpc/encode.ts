// Measures protobuf messages, and writes each straight into the frame in which grpc-js sends it. protobuf-es lets a buffer grow
// and copies it in the end: three buffers outside V8's heap for each message, which cost more than all else of a small one.
import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';

/** A message as grpc-js needs it, to copy it into a frame; a Buffer is one. */
export interface Encoded {
  readonly length: number;
  readonly byteLength: number;
  readonly copy: (target: Buffer, start: number) => number;
}

type Text = string | Uint8Array | MeasuredMessage;
/** What a message consists of: numbers are varints, the length of a text or of bytes is a part of its own. */
type Parts = (number | Text)[];
/** Adds a value; returns how many bytes it takes. */
type Add = (parts: Parts, value: never) => number;

const [varint, lengthDelimited] = [0, 2];

/**
 * Undefined where `schema` has fields of a kind that is left to protobuf-es. What it returns throws for a value of another
 * type: in the frame that value would take all other calls with it.
 */
export function encoder(schema: DescMessage): ((message: unknown) => Encoded) | undefined {
  const add = messageAdder(schema);
  if (add === undefined) return undefined;
  return (message) => {
    const parts: Parts = [];
    const length = add(parts, message as never);
    if (!Number.isSafeInteger(length)) throw new TypeError('a value is of another type than its field');
    return new MeasuredMessage(length, parts);
  };
}

/** Its bytes are read when it is copied. It may stand in another one as a field of bytes. */
class MeasuredMessage implements Encoded {
  readonly length: number;
  readonly #parts: Parts;

  constructor(length: number, parts: Parts) {
    this.length = length;
    this.#parts = parts;
  }

  get byteLength(): number {
    return this.length;
  }

  copy(target: Buffer, start: number): number {
    let at = start;
    for (const part of this.#parts) at = write(target, at, part);
    // What nobody has written would be memory of other requests.
    if (at !== start + this.length) throw new RangeError('a message has another length than was measured');
    return this.length;
  }
}

function messageAdder({ fields, typeName }: DescMessage): Add | undefined {
  const adders = fields.flatMap((field) => {
    const add = fieldAdder(field);
    return add ? [{ name: field.localName, add }] : [];
  });
  // Well-known types come in forms of their own.
  if (adders.length < fields.length || typeName.startsWith('google.')) return undefined;
  return (parts, message: Readonly<Record<string, never>>) => {
    let size = 0;
    for (const { name, add } of adders) if (message[name] != null) size += add(parts, message[name]);
    return size;
  };
}

function fieldAdder(field: DescField): Add | undefined {
  if (field.oneof) return undefined;
  const { number, message, scalar } = field;
  if (field.fieldKind === 'map')
    return field.mapKey === ScalarType.STRING && scalar === ScalarType.STRING
      ? each(nested(number, addEntry), Object.entries)
      : undefined;
  const one = message ? nested(number, messageAdder(message)) : scalarAdder(number, scalar);
  if (field.fieldKind === 'list') return each(one, (values) => values);
  if (message || field.presence !== FeatureSet_FieldPresence.IMPLICIT) return one;
  return one && ((parts, value) => (isDefault(value) ? 0 : one(parts, value)));
}

function each(one: Add | undefined, valuesOf: (value: never) => readonly unknown[]): Add | undefined {
  return (
    one &&
    ((parts, list) => valuesOf(list).reduce<number>((size, value) => size + one(parts, value as never), 0))
  );
}

function nested(number: number, add: Add | undefined): Add | undefined {
  const tag = (number << 3) | lengthDelimited;
  return (
    add &&
    ((parts, message) => {
      const at = parts.push(tag, 0) - 1;
      const length = add(parts, message);
      parts[at] = length;
      return sizeOf(tag) + sizeOf(length) + length;
    })
  );
}

function scalarAdder(number: number, scalar: ScalarType | undefined): Add | undefined {
  if (scalar === ScalarType.UINT32 || scalar === ScalarType.BOOL) {
    const tag = (number << 3) | varint;
    return (parts, value: number | boolean) => {
      const written = Number(value);
      if (written >>> 0 !== written) throw new RangeError(`${written} is no unsigned number of 32 bits`);
      parts.push(tag, written);
      return sizeOf(tag) + sizeOf(written);
    };
  }
  if (scalar !== ScalarType.STRING && scalar !== ScalarType.BYTES) return undefined;
  const tag = (number << 3) | lengthDelimited;
  return (parts, value: Text) => addText(parts, tag, value);
}

function addText(parts: Parts, tag: number, value: Text): number {
  const length = typeof value === 'string' ? Buffer.byteLength(value) : value.length;
  parts.push(tag, length, value);
  return sizeOf(tag) + sizeOf(length) + length;
}

/** An entry of a map is a message of two fields. */
function addEntry(parts: Parts, [key, value]: readonly [string, string]): number {
  return addText(parts, (1 << 3) | lengthDelimited, key) + addText(parts, (2 << 3) | lengthDelimited, value);
}

function isDefault(value: unknown): boolean {
  return (
    value === 0 || value === '' || value === false || (value as { readonly length?: number }).length === 0
  );
}

function sizeOf(value: number): number {
  return Math.max(1, Math.ceil((32 - Math.clz32(value)) / 7));
}

/** Returns where it ends. */
function write(buffer: Buffer, start: number, part: Parts[number]): number {
  if (typeof part === 'string') return start + buffer.write(part, start);
  if (typeof part === 'number') return writeVarint(buffer, start, part);
  if (part instanceof MeasuredMessage) return start + part.copy(buffer, start);
  buffer.set(part, start);
  return start + part.length;
}

function writeVarint(buffer: Buffer, start: number, value: number): number {
  let [at, rest] = [start, value >>> 0];
  for (; rest > 0x7f; rest >>>= 7) buffer[at++] = (rest & 0x7f) | 0x80;
  buffer[at] = rest;
  return at + 1;
}
