// Converts methods of protobuf-es to those of grpc-js, at both ends.
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { MethodDefinition } from '@grpc/grpc-js';

export type OnMessage = (message: unknown) => void;

/** `deadline` in milliseconds since the epoch. Throws `Failure`, and what `onMessage` throws. */
export type Send = (
  request: unknown,
  metadata: Record<string, string>,
  deadline: number,
  onMessage?: OnMessage,
) => Promise<unknown>;

export function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

export function serializer(schema: DescMessage) {
  return (message: unknown): Buffer => bufferOf(toBinary(schema, create(schema, message as never)));
}

/** Shares the memory. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

export function deserializer<S extends DescMessage>(schema: S) {
  return (bytes: Uint8Array): MessageShape<S> => fromBinary(schema, bytes);
}

export function methodDefinition(method: DescMethod): MethodDefinition<unknown, unknown> {
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
