// Typed clients of the operator's and the platform's surfaces over connect-node's gRPC transport. A connection is
// opened with the first call that needs it.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { DescService } from '@bufbuild/protobuf';
import { type Client, createClient, type Interceptor, type Transport } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { usageProblem } from '../frame/problem.ts';
import { type Address, type AddressSources, findAddress, type ServiceName } from './addresses.ts';
import { patience } from './patience.ts';
import { openSessions, type Sessions } from './sessions.ts';

export interface Connections {
  readonly identity: <S extends DescService>(service: S) => Client<S>;
  readonly catalog: <S extends DescService>(service: S) => Client<S>;
  /** Where a service is looked for, as a person reads it. */
  readonly whereIs: (service: ServiceName) => string;
  readonly close: () => void;
}

export interface ConnectionParts {
  readonly sources: AddressSources;
  /** The account that runs the tool; the service writes it into the audit unless a certificate says otherwise. */
  readonly actor: string;
  /** Makes one request id per call. */
  readonly newRequestId: () => string;
  /** Ends when the person presses Ctrl-C. */
  readonly signal: AbortSignal;
  /** Longest time of a call that is no stream and names no limit of its own, in milliseconds. */
  readonly timeoutMs: number;
}

export function openConnections(parts: ConnectionParts): Connections {
  const open = new Map<ServiceName, { readonly transport: Transport; readonly sessions: Sessions }>();
  const to = (name: ServiceName): Transport => {
    const known = open.get(name);
    if (known) return known.transport;
    const made = openTransport(findAddress(name, parts.sources), parts);
    open.set(name, made);
    return made.transport;
  };
  return {
    identity: (service) => createClient(service, to('identity')),
    catalog: (service) => createClient(service, to('catalog')),
    whereIs: (name) => findAddress(name, parts.sources).said,
    close: () => {
      for (const { sessions } of open.values()) sessions.abort();
    },
  };
}

function openTransport(address: Address, parts: ConnectionParts) {
  const { url, socket } = address;
  const options =
    socket === undefined
      ? certificates(url, parts.sources.environment)
      : { createConnection: () => connect(socket) };
  const sessions = openSessions(url, options);
  const transport = createGrpcTransport({
    baseUrl: url,
    sessionManager: sessions,
    interceptors: [introduction(parts), patience(parts)],
  });
  return { transport, sessions };
}

/** Who calls, and under which id the service logs and audits it. */
function introduction({ actor, newRequestId }: ConnectionParts): Interceptor {
  return (next) => (request) => {
    request.header.set('x-operator', actor);
    request.header.set('x-request-id', newRequestId());
    return next(request);
  };
}

/** For mutual TLS: the certificate's name is the actor. */
function certificates(url: string, environment: AddressSources['environment']) {
  if (!url.startsWith('https://')) return {};
  const read = (variable: string): Buffer => {
    const path = environment[variable];
    try {
      return readFileSync(path ?? '');
    } catch {
      throw usageProblem(`${variable} must name a readable PEM file for ${url}.`);
    }
  };
  return {
    cert: read('PARTNERCTL_TLS_CERT'),
    key: read('PARTNERCTL_TLS_KEY'),
    ca: read('PARTNERCTL_TLS_CA'),
  };
}
