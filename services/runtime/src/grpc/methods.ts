// Converts methods and messages of protobuf-es to those of grpc-js, at both ends. In the answers of a call stream a list
// of megabytes is copied once, not once per enclosing message.
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { type Answer, AnswerSchema, CarryResponseSchema } from '@course-exchange/proto/rpc/v1';

export type MessageInit = MessageInitShape<DescMessage>;
export type OnMessage = (message: unknown) => void;

/** `deadline` in milliseconds since the epoch. Throws `Failure`, and what `onMessage` throws. */
export type Send = (
  request: MessageInit,
  metadata: Record<string, string>,
  deadline: number,
  onMessage?: OnMessage,
) => Promise<unknown>;

export function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

export function serializer<S extends DescMessage>(schema: S) {
  return (message: MessageInitShape<S>): Buffer => bufferOf(toBinary(schema, create(schema, message)));
}

/** Shares the memory. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

export function deserializer<S extends DescMessage>(schema: S) {
  return (bytes: Uint8Array) => fromBinary(schema, bytes);
}

export function methodDefinition(method: DescMethod) {
  return {
    path: methodPath(method),
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: serializer(method.input),
    requestDeserialize: deserializer(method.input),
    responseSerialize: serializer(method.output),
    responseDeserialize: deserializer(method.output),
  };
}

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
export function chunker(schema: DescMessage): (message: MessageInit) => Chunks {
  const [field, another] = schema.fields;
  if (field?.fieldKind === 'scalar' && field.scalar === ScalarType.BYTES && another === undefined)
    return ({ [field.localName]: bytes }) =>
      bytesField(field.number, bytes instanceof Uint8Array ? [bytes] : []);
  const serialize = serializer(schema);
  return (message) => [serialize(message)];
}

export function encodeResponse({ answers = [], draining = false }: SentResponse): Buffer {
  const { answers: answersField, draining: drainingField } = CarryResponseSchema.field;
  const chunks = answers.flatMap(({ message = [], ...rest }) => {
    const head = toBinary(AnswerSchema, create(AnswerSchema, rest));
    const answer = [head, ...bytesField(AnswerSchema.field.message.number, message)];
    return bytesField(answersField.number, answer);
  });
  if (draining) chunks.push(writer.tag(drainingField.number, WireType.Varint).bool(true).finish());
  return Buffer.concat(chunks);
}

/** Empty between two uses. */
const writer = new BinaryWriter();

function bytesField(number: number, content: Chunks): Chunks {
  const head = writer.tag(number, WireType.LengthDelimited).uint32(lengthOf(content));
  return [head.finish(), ...content];
}
