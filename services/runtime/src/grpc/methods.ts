// Turns methods of protobuf-es into those of grpc-js, at both ends of the wire.
import {
  create,
  type DescMessage,
  type DescMethod,
  fromBinary,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { MethodDefinition } from '@grpc/grpc-js';
import { type Encoded, encoder } from './encode.ts';

export type OnMessage = (message: unknown) => void;

/** Sends one call. `deadline` in milliseconds since the epoch. Throws `Failure`, and what `onMessage` throws. */
export type Send = (
  request: unknown,
  metadata: Record<string, string>,
  deadline: number,
  onMessage?: OnMessage,
) => Promise<unknown>;

export function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

export function serializer(schema: DescMessage): (message: unknown) => Encoded {
  return (
    encoder(schema) ??
    ((message) => {
      const bytes = toBinary(schema, create(schema, message as never));
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    })
  );
}

export function deserializer<S extends DescMessage>(schema: S) {
  return (bytes: Uint8Array): MessageShape<S> => fromBinary(schema, bytes);
}

/** For grpc-js, which copies every message into a frame and asks it for nothing else, unless it compresses. */
export function asBuffer(message: Encoded): Buffer {
  return message as Buffer;
}

export function methodDefinition(method: DescMethod): MethodDefinition<unknown, unknown> {
  const [request, response] = [serializer(method.input), serializer(method.output)];
  return {
    path: methodPath(method),
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: (message) => asBuffer(request(message)),
    requestDeserialize: deserializer(method.input),
    responseSerialize: (message) => asBuffer(response(message)),
    responseDeserialize: deserializer(method.output),
  };
}
