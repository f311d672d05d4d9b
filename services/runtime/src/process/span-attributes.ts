// The attributes of spans; docs/telemetry.md lists them. Every text may be logged, too (R27): no code, token, address
// or personal name, and no value made up by a caller.
import type { LogText } from './logger.ts';

interface AttributeDefinition {
  readonly spans: 'route' | 'RPC' | 'store' | 'hashing' | 'any';
  readonly about: string;
}

const definitions = {
  'http.request.method': { spans: 'route', about: 'Method of the request' },
  'http.route': { spans: 'route', about: 'Path of the route, never that of the request' },
  'http.response.status_code': { spans: 'route', about: 'Status of the answer' },
  'http.response.body.size': { spans: 'route', about: 'Length of its body, in bytes' },
  'course_exchange.grant_type': {
    spans: 'route',
    about: 'Of a token request: `authorization_code`, `refresh_token` or `other`; the span is named after it',
  },
  'course_exchange.client_id': {
    spans: 'any',
    about:
      'The client, once it has authenticated or an access token that we signed names it; of a refused authorization request the registered client that it names, and else never one that is only named',
  },
  'course_exchange.request_id': {
    spans: 'any',
    about: 'On spans of routes and of calls answered: as in `X-Request-Id` and in the lines of the log',
  },
  'rpc.system.name': { spans: 'RPC', about: '`grpc`' },
  'rpc.method': { spans: 'RPC', about: 'Service and method' },
  'rpc.response.status_code': {
    spans: 'RPC',
    about: 'On calls answered: `OK`, or the gRPC status that stands for the error',
  },
  'course_exchange.deadline.left_ms': {
    spans: 'RPC',
    about: 'Milliseconds that the caller still waits when the call begins',
  },
  'course_exchange.retries': {
    spans: 'any',
    about: 'How often a call was sent again after it lost its connection',
  },
  'course_exchange.access_token.kid': {
    spans: 'RPC',
    about: 'Key that signed the access token which the call issues, or with which it comes',
  },
  'course_exchange.list.items': { spans: 'RPC', about: 'Events or designs in the answer' },
  'db.system.name': { spans: 'store', about: '`postgresql` or `redis`' },
  'db.operation.name': {
    spans: 'store',
    about: 'Name of the statement or operation; neither its text nor its values are recorded',
  },
  'db.response.returned_rows': { spans: 'store', about: 'Rows that Postgres returned' },
  'db.response.status_code': { spans: 'store', about: 'SQLSTATE, or the first word of an error of Redis' },
  'course_exchange.db.connection.wait_ms': {
    spans: 'any',
    about:
      'Milliseconds until the pool had a connection, or until the reads before it on a shared one were answered: on the span of the statement, for a transaction on that of the call',
  },
  'course_exchange.password_hashing.wait_ms': {
    spans: 'hashing',
    about: 'Milliseconds in the hashing queue; the rest of the span is the hashing',
  },
  'error.type': {
    spans: 'any',
    about:
      'What the caller is told of a refusal or a failure (specification §7), or the class of an unforeseen error',
  },
  'course_exchange.error.reason': {
    spans: 'any',
    about: 'Why, in words that the caller is not told; once, on the span where it happened',
  },
} as const satisfies Readonly<Record<string, AttributeDefinition>>;

type SpanAttribute = keyof typeof definitions;

export const spanAttributes: Readonly<Record<string, AttributeDefinition>> = definitions;

export type SpanAttributes = { readonly [Name in SpanAttribute]?: LogText | number };
