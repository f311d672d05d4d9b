// grpc/ is how services call each other and operators call them: protobuf-es over grpc-js, mutual TLS, roles, and the call streams
// between the gateway and its services (decision 0028).

// Serves protobuf-es services over grpc-js, and stops by draining.
import { promisify } from 'node:util';
import type {
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { CallStreamService } from '@course-exchange/proto/rpc/v1';
import {
  Server,
  ServerCredentials,
  type ServerOptions,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { listenOrFail, ownerOnly } from '../process/listen.ts';
import { callStreamServer } from './call-stream-server.ts';
import { answeringHandler, type CallOptions, type Handler, streamingHandler } from './handlers.ts';
import type { IncomingCall } from './incoming-call.ts';
import { encodeResponse, methodDefinition } from './methods.ts';

/** Server-streaming methods return an async iterable; client-streaming ones are given one, with flow control. */
export type Handlers<S extends DescService> = {
  readonly [M in keyof S['method']]: S['method'][M] extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, call: IncomingCall) => Promise<MessageInitShape<O>>
    : S['method'][M] extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, call: IncomingCall) => AsyncIterable<MessageInitShape<O>>
      : S['method'][M] extends DescMethodClientStreaming<infer I, infer O>
        ? (requests: AsyncIterable<MessageShape<I>>, call: IncomingCall) => Promise<MessageInitShape<O>>
        : never;
};

export interface ServedService {
  readonly service: DescService;
  readonly handlers: Readonly<Record<string, Handler>>;
}

export function bindService<S extends DescService>(service: S, handlers: Handlers<S>): ServedService {
  return { service, handlers };
}

export interface RpcServerOptions extends CallOptions {
  readonly services: readonly ServedService[];
  /** `0.0.0.0:7001`; port 0 lets the system choose. `unix:<path>`: mode 0600. */
  readonly address: string;
  /** Named when the port is taken; default RPC_PORT. */
  readonly portSetting?: string;
  /** Milliseconds until a client must reconnect, so that new pods get traffic. */
  readonly maxConnectionAgeMs?: number;
  /** Plaintext if absent. */
  readonly credentials?: ServerCredentials | undefined;
  readonly maxRequestBytes?: number;
}

export type RpcServer = Awaited<ReturnType<typeof serveRpc>>;

/** Throws ConfigurationError when the port is taken. */
export async function serveRpc(options: RpcServerOptions) {
  const server = new Server(serverOptions(options));
  const streams = callStreamServer(options);
  for (const { service, handlers } of options.services) {
    const definition: Record<string, ReturnType<typeof methodDefinition>> = {};
    const implementation: UntypedServiceImplementation = {};
    for (const method of service.methods) {
      const handler = handlers[method.localName];
      if (handler === undefined) throw new Error(`${method.name} has no handler`);
      definition[method.localName] = methodDefinition(method);
      implementation[method.localName] =
        method.methodKind === 'server_streaming'
          ? streamingHandler(method, handler, options)
          : answeringHandler(method, handler, options);
      streams.add(method, handler);
    }
    server.addService(definition, implementation);
  }
  const carry = { ...methodDefinition(CallStreamService.method.carry), responseSerialize: encodeResponse };
  // Answers of a stream have no field for details.
  if (!options.sendDetails) server.addService({ carry }, { carry: streams.handle });
  const { address, portSetting = 'RPC_PORT', credentials = ServerCredentials.createInsecure() } = options;
  const bind = () => promisify(server.bindAsync.bind(server))(address, credentials);
  const asked = Number(/:(\d+)$/.exec(address)?.[1] ?? 0);
  const port = await listenOrFail(portSetting, asked, () =>
    address.startsWith('unix:') ? ownerOnly(bind) : bind(),
  );
  /** Stops accepting, waits for calls in flight, ends them after `timeoutMs`. */
  const stop = (timeoutMs: number) => drain(server, streams, timeoutMs);
  return { port, stop };
}

function serverOptions({
  maxRequestBytes = 256 * 1024,
  maxConnectionAgeMs,
}: RpcServerOptions): ServerOptions {
  return {
    'grpc.max_receive_message_length': maxRequestBytes,
    'grpc.enable_channelz': 0,
    // A stream's age, its successor's start, and its last call, a login of 10 s.
    'grpc.max_connection_age_grace_ms': 15_000,
    ...(maxConnectionAgeMs === undefined ? {} : { 'grpc.max_connection_age_ms': maxConnectionAgeMs }),
  };
}

function drain(
  server: Server,
  streams: ReturnType<typeof callStreamServer>,
  timeoutMs: number,
): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      streams.end();
      server.forceShutdown();
      resolve();
    }, timeoutMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
    // Last: a drained stream's successor goes to another server.
    streams.drain();
  });
}
