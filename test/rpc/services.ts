// The services of the running stack, called from outside at their own ports.
import type { DescMethod, DescMethodUnary, DescService } from '@bufbuild/protobuf';
import { type CallOptions, type Client, createClient } from '@connectrpc/connect';
import { grpcTransport } from '../support/grpc-client.ts';
import { runningStack } from '../support/running-stack.ts';

export type Service = 'identity' | 'design-catalog';

function transportTo(service: Service) {
  const address = runningStack().addresses?.[service];
  if (address === undefined) throw new Error(`The stack file does not say where ${service} listens.`);
  return grpcTransport(address);
}

export function clientOf<S extends DescService>(service: Service, description: S): Client<S> {
  return createClient(description, transportTo(service));
}

export function withToken(token: string, more: Readonly<Record<string, string>> = {}): CallOptions {
  return { headers: { authorization: `Bearer ${token}`, ...more } };
}

/** Calls a method that no service has, with the messages of one that exists. */
export function callUnknown(service: Service, like: DescMethod, name: string): Promise<unknown> {
  const method = { ...like, methodKind: 'unary', name } as DescMethodUnary;
  return transportTo(service).unary(method, undefined, 5_000, undefined, {});
}
