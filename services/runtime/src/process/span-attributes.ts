// The attributes of spans; docs/telemetry.md lists them. Every text may be logged, too (R27): no code, token, address
// or personal name, and no value made up by a caller.
import type { LogText } from './logger.ts';

/** By kind of span, what each means. */
export const spanAttributes = {
  route: {
    'http.request.method': 'Method of the request',
    'http.route': 'Path of the route, not of the request',
    'http.response.status_code': 'Status of the answer',
    'http.response.body.size': 'Length of its body, in bytes',
    'course_exchange.grant_type':
      "`authorization_code`, `refresh_token` or `other` of a token request; part of the span's name",
  },
  RPC: {
    'rpc.system.name': '`grpc`',
    'rpc.method': 'Service and method',
    'rpc.response.status_code': '`OK` or the gRPC status of the error, on answered calls',
    'course_exchange.deadline.left_ms': "Milliseconds left of the caller's time when the call begins",
    'course_exchange.access_token.kid': 'Key of the access token that the call issues or carries',
    'course_exchange.list.items': 'Events or designs in the answer',
  },
  store: {
    'db.system.name': '`postgresql` or `redis`',
    'db.operation.name': 'Name of the statement or operation, without text or values',
    'db.response.returned_rows': 'Rows that Postgres returned',
    'db.response.status_code': 'SQLSTATE, or the first word of a Redis error',
  },
  hashing: {
    'course_exchange.password_hashing.wait_ms': 'Milliseconds in the hashing queue; the rest is hashing',
  },
  any: {
    'course_exchange.client_id':
      'The client, if it authenticated or an access token that we signed names it; for a refused authorization request, the registered client that it names',
    'course_exchange.request_id':
      'As in `X-Request-Id` and in the log; on spans of routes and answered calls',
    'course_exchange.retries': 'Retries of a call after a lost connection',
    'course_exchange.db.connection.wait_ms':
      'Milliseconds of waiting for a pool connection, or for earlier reads on a shared one; for a transaction on the span of the call',
    'error.type':
      'Public code of a refusal or failure (specification §7), or the class of an unforeseen error',
    'course_exchange.error.reason': 'The internal reason; once, on the span where it happened',
  },
} as const;

type Definitions = typeof spanAttributes;
type SpanAttribute = { readonly [Kind in keyof Definitions]: keyof Definitions[Kind] }[keyof Definitions];

export type SpanAttributes = { readonly [Name in SpanAttribute]?: LogText | number };
