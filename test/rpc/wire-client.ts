// The services called from outside with connect-node's gRPC transport: another implementation of the wire than
// the one that they are built on.
import type { DescMethodUnary, DescService } from '@bufbuild/protobuf';
import {
  type CallOptions,
  type Client,
  ConnectError,
  createClient,
  type Transport,
} from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { runningStack } from '../support/running-stack.ts';

export type Service = 'identity' | 'design-catalog';

function transportTo(service: Service): Transport {
  const address = runningStack().addresses?.[service];
  if (address === undefined) throw new Error(`The stack file does not say where ${service} listens.`);
  return createGrpcTransport({ baseUrl: `http://${address}` });
}

export function clientOf<S extends DescService>(service: Service, description: S): Client<S> {
  return createClient(description, transportTo(service));
}

/** What a caller learns of a failed call: the gRPC status and the public error code of the trailer. */
export interface Refusal {
  readonly status: number;
  readonly errorCode: string | null;
}

/** The refusal of `call`; fails when it succeeds. */
export async function refusalOf(call: Promise<unknown>): Promise<Refusal> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error),
  );
  if (!outcome) throw new Error('The call succeeded.');
  return { status: outcome.code, errorCode: outcome.metadata.get('error-code') };
}

export function withToken(token: string): CallOptions {
  return { headers: { authorization: `Bearer ${token}` } };
}

/** The deadline stands in the header alone (`2m`: two milliseconds): the client would give up before the service. */
export function withDeadline(token: string, timeout: string): CallOptions {
  return { headers: { authorization: `Bearer ${token}`, 'grpc-timeout': timeout } };
}

/** Calls a method that no service has, with the messages of one that exists. */
export function callUnknown(service: Service, like: DescMethodUnary, name: string): Promise<unknown> {
  const method = { ...like, name } as DescMethodUnary;
  return transportTo(service).unary(method, undefined, 5_000, undefined, {});
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  return Array.fromAsync(stream);
}
