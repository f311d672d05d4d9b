// Calls one identity process by its own port, as nobody does who goes through the gateway.
import type { DescService } from '@bufbuild/protobuf';
import { type Client, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';

/** `address` is `host:port`. */
export function callService<S extends DescService>(service: S, address: string): Client<S> {
  const transport = createGrpcTransport({
    baseUrl: `http://${address}`,
    interceptors: [
      (next) => (request) => {
        request.header.set('x-operator', 'test');
        return next(request);
      },
    ],
  });
  return createClient(service, transport);
}
