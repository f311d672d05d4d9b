// A service called at its own port with connect-node's gRPC transport, unlike a caller through the gateway: another
// implementation of the wire than the one that it is built on.
import { connect } from 'node:net';
import type { DescService } from '@bufbuild/protobuf';
import { type Client, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';

/** `address` is `host:port` or `unix:/path`; `operator` names the caller, unless a call names another. */
export function grpcTransport(address: string, operator = ''): Transport {
  const [, socket] = /^unix:(.+)$/.exec(address) ?? [];
  return createGrpcTransport({
    baseUrl: socket === undefined ? `http://${address}` : 'http://localhost',
    ...(socket === undefined ? {} : { nodeOptions: { createConnection: () => connect(socket) } }),
    interceptors: [
      (next) => (request) => {
        if (operator && !request.header.has('x-operator')) request.header.set('x-operator', operator);
        return next(request);
      },
    ],
  });
}

export function callService<S extends DescService>(service: S, address: string): Client<S> {
  return createClient(service, grpcTransport(address, 'test'));
}

/** What a caller learns of a failed call; fails when it succeeds. */
export async function refusalOf(call: Promise<unknown>) {
  const { code, metadata } = await call.then(
    () => {
      throw new Error('The call succeeded.');
    },
    (error: unknown) => ConnectError.from(error),
  );
  return {
    status: code,
    errorCode: metadata.get('error-code'),
    sentences: decodeURIComponent(metadata.get('error-detail') ?? '').split('\n'),
    possibleAt: metadata.get('error-possible-at'),
  };
}
