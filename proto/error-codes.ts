// Every public error code (specification §7, R5, R14) and the gRPC status that carries it. Services throw
// a Failure with one of these codes; the gateway turns them into HTTP, once.

/** gRPC status numbers, so that this package needs no driver. */
const invalidArgument = 3;
const notFound = 5;
const permissionDenied = 7;
const failedPrecondition = 9;
const internal = 13;
const unavailable = 14;
const unauthenticated = 16;

export const errorStatuses = {
  access_denied: permissionDenied,
  invalid_client: unauthenticated,
  invalid_grant: failedPrecondition,
  invalid_redirect_uri: invalidArgument,
  invalid_request: invalidArgument,
  invalid_scope: invalidArgument,
  invalid_token: unauthenticated,
  not_found: notFound,
  server_error: internal,
  temporarily_unavailable: unavailable,
  unsupported_grant_type: invalidArgument,
  unsupported_response_type: invalidArgument,
} as const;

export type ErrorCode = keyof typeof errorStatuses;
