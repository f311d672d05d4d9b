// Turns protobuf-es services into grpc-js method definitions; both ends of the wire use it.
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  toBinary,
} from '@bufbuild/protobuf';
import type { MethodDefinition } from '@grpc/grpc-js';

export function methodPath(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function serializer(schema: DescMessage) {
  return (message: unknown): Buffer => {
    const bytes = toBinary(schema, create(schema, message as never));
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}

function deserializer(schema: DescMessage) {
  return (bytes: Buffer): unknown => fromBinary(schema, bytes);
}

export function methodDefinition(method: DescMethod): MethodDefinition<unknown, unknown> {
  return {
    path: methodPath(method),
    requestStream: method.methodKind === 'client_streaming',
    responseStream: method.methodKind === 'server_streaming',
    requestSerialize: serializer(method.input),
    requestDeserialize: deserializer(method.input),
    responseSerialize: serializer(method.output),
    responseDeserialize: deserializer(method.output),
  };
}

/** Unary methods and those that stream one way; this system has no others. */
export function methodsOf(service: DescService): readonly DescMethod[] {
  return service.methods;
}
