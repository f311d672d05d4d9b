// Serves protobuf-es services over grpc-js: what is served where, and a stop that drains.
import type {
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import {
  Server,
  ServerCredentials,
  type ServerOptions,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { IncomingCall } from './incoming-call.ts';
import { ownerOnly } from './private-socket.ts';
import { answeringHandler, type CallOptions, streamingHandler } from './rpc-handlers.ts';
import { methodDefinition, methodPath, methodsOf } from './rpc-methods.ts';
import { claimPort } from './taken-port.ts';

/**
 * One function per method; server-streaming methods return an async iterable, client-streaming ones are given
 * one. What comes in is read no faster than the handler takes it: flow control holds the sender back.
 */
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
  readonly handlers: Readonly<Record<string, unknown>>;
}

/** Pairs a service with its handlers; checks the types. */
export function served<S extends DescService>(service: S, handlers: Handlers<S>): ServedService {
  return { service, handlers: handlers as Readonly<Record<string, unknown>> };
}

export interface RpcServerOptions extends CallOptions {
  readonly services: readonly ServedService[];
  /** `0.0.0.0:7001`; port 0 lets the system choose. `unix:<path>`: for the own account alone. */
  readonly address: string;
  /** The setting that the port comes from, for the sentence when it is taken: RPC_PORT unless it is said. */
  readonly portSetting?: string;
  /** Milliseconds after which a client must connect anew, so that new pods get traffic. */
  readonly maxConnectionAgeMs?: number;
  /** Plaintext without. */
  readonly credentials?: ServerCredentials | undefined;
  /** Largest request in bytes. */
  readonly maxRequestBytes?: number;
}

export interface RpcServer {
  readonly port: number;
  /** Stops accepting, waits for calls in progress, ends them after `timeoutMs`. */
  readonly stop: (timeoutMs: number) => Promise<void>;
}

/** Throws ConfigurationError when the port is taken. */
export async function serveRpc(options: RpcServerOptions): Promise<RpcServer> {
  const server = new Server(serverOptions(options));
  for (const { service, handlers } of options.services) {
    const definition: Record<string, ReturnType<typeof methodDefinition>> = {};
    const implementation: UntypedServiceImplementation = {};
    for (const method of methodsOf(service)) {
      const handler = handlers[method.localName] as (request: unknown, call: IncomingCall) => never;
      definition[method.localName] = methodDefinition(method);
      implementation[method.localName] =
        method.methodKind === 'server_streaming'
          ? streamingHandler(methodPath(method), handler, options)
          : answeringHandler(methodPath(method), handler, options);
    }
    server.addService(definition, implementation);
  }
  const port = await claimPort(options.portSetting ?? 'RPC_PORT', portOf(options.address), () =>
    options.address.startsWith('unix:') ? ownerOnly(() => bind(server, options)) : bind(server, options),
  );
  return { port, stop: (timeoutMs) => drain(server, timeoutMs) };
}

function serverOptions(options: RpcServerOptions): ServerOptions {
  return {
    'grpc.max_receive_message_length': options.maxRequestBytes ?? 256 * 1024,
    'grpc.enable_channelz': 0,
    ...(options.maxConnectionAgeMs === undefined
      ? {}
      : {
          'grpc.max_connection_age_ms': options.maxConnectionAgeMs,
          'grpc.max_connection_age_grace_ms': 15_000,
        }),
  };
}

function portOf(address: string): number {
  return Number(/:(\d+)$/.exec(address)?.[1] ?? 0);
}

function bind(server: Server, options: RpcServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const credentials = options.credentials ?? ServerCredentials.createInsecure();
    server.bindAsync(options.address, credentials, (error, port) => (error ? reject(error) : resolve(port)));
  });
}

function drain(server: Server, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, timeoutMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
