// Encodes the answers of a call stream so that a list of megabytes is copied once, not once per enclosing message.
import { create, type DescMessage, ScalarType, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { type Answer, AnswerSchema, CarryResponseSchema } from '@course-exchange/proto/rpc/v1';
import { bufferOf, serializer } from './methods.ts';

export type Chunks = readonly Uint8Array[];

export interface SentAnswer
  extends Pick<Answer, 'id'>,
    Partial<Pick<Answer, 'errorCode' | 'more' | 'user' | 'client'>> {
  readonly message?: Chunks;
}
export interface SentResponse {
  readonly answers?: readonly SentAnswer[];
  readonly draining?: boolean;
}

export const lengthOf = (chunks: Chunks): number => chunks.reduce((sum, { length }) => sum + length, 0);

/** The content of a single `bytes` field is not copied. */
export function chunker(schema: DescMessage): (message: unknown) => Chunks {
  const [field, another] = schema.fields;
  if (field?.fieldKind === 'scalar' && field.scalar === ScalarType.BYTES && another === undefined)
    return (message) => bytesField(field.number, [(message as never)[field.localName] ?? Buffer.alloc(0)]);
  const serialize = serializer(schema);
  return (message) => [serialize(message)];
}

export function encodeResponse({ answers = [], draining = false }: SentResponse): Buffer {
  const { answers: answersField, draining: drainingField } = CarryResponseSchema.field;
  const writer = new BinaryWriter();
  for (const { message = [], ...rest } of answers) {
    const head = toBinary(AnswerSchema, create(AnswerSchema, rest));
    const answer = [head, ...bytesField(AnswerSchema.field.message.number, message)];
    for (const chunk of bytesField(answersField.number, answer)) writer.raw(chunk);
  }
  if (draining) writer.tag(drainingField.number, WireType.Varint).bool(true);
  return bufferOf(writer.finish());
}

function bytesField(number: number, content: Chunks): Chunks {
  const head = new BinaryWriter().tag(number, WireType.LengthDelimited).uint32(lengthOf(content));
  return [head.finish(), ...content];
}
