// The attributes of spans; docs/telemetry.md lists them. Every text may be logged, too (R27): no code, token, address
// or personal name, and no value made up by a caller.
import type { LogText } from './logger.ts';

interface AttributeDefinition {
  readonly spans: 'route' | 'RPC' | 'store' | 'hashing' | 'any';
  readonly about: string;
}

const definitions = {
  'http.request.method': { spans: 'route', about: 'Method of the request' },
  'http.route': { spans: 'route', about: 'Path of the route, not of the request' },
  'http.response.status_code': { spans: 'route', about: 'Status of the answer' },
  'http.response.body.size': { spans: 'route', about: 'Length of its body, in bytes' },
  'course_exchange.grant_type': {
    spans: 'route',
    about: "`authorization_code`, `refresh_token` or `other` of a token request; part of the span's name",
  },
  'course_exchange.client_id': {
    spans: 'any',
    about:
      'The client, if it authenticated or an access token that we signed names it; for a refused authorization request, the registered client that it names',
  },
  'course_exchange.request_id': {
    spans: 'any',
    about: 'As in `X-Request-Id` and in the log; on spans of routes and answered calls',
  },
  'rpc.system.name': { spans: 'RPC', about: '`grpc`' },
  'rpc.method': { spans: 'RPC', about: 'Service and method' },
  'rpc.response.status_code': {
    spans: 'RPC',
    about: '`OK` or the gRPC status of the error, on answered calls',
  },
  'course_exchange.deadline.left_ms': {
    spans: 'RPC',
    about: "Milliseconds left of the caller's time when the call begins",
  },
  'course_exchange.retries': {
    spans: 'any',
    about: 'Retries of a call after a lost connection',
  },
  'course_exchange.access_token.kid': {
    spans: 'RPC',
    about: 'Key of the access token that the call issues or carries',
  },
  'course_exchange.list.items': { spans: 'RPC', about: 'Events or designs in the answer' },
  'db.system.name': { spans: 'store', about: '`postgresql` or `redis`' },
  'db.operation.name': {
    spans: 'store',
    about: 'Name of the statement or operation, without text or values',
  },
  'db.response.returned_rows': { spans: 'store', about: 'Rows that Postgres returned' },
  'db.response.status_code': { spans: 'store', about: 'SQLSTATE, or the first word of a Redis error' },
  'course_exchange.db.connection.wait_ms': {
    spans: 'any',
    about:
      'Milliseconds of waiting for a pool connection, or for earlier reads on a shared one; for a transaction on the span of the call',
  },
  'course_exchange.password_hashing.wait_ms': {
    spans: 'hashing',
    about: 'Milliseconds in the hashing queue; the rest is hashing',
  },
  'error.type': {
    spans: 'any',
    about: 'Public code of a refusal or failure (specification §7), or the class of an unforeseen error',
  },
  'course_exchange.error.reason': {
    spans: 'any',
    about: 'The internal reason; once, on the span where it happened',
  },
} as const satisfies Readonly<Record<string, AttributeDefinition>>;

type SpanAttribute = keyof typeof definitions;

export const spanAttributes: Readonly<Record<string, AttributeDefinition>> = definitions;

export type SpanAttributes = { readonly [Name in SpanAttribute]?: LogText | number };
