// Every error code and its gRPC status: public (specification §7, R5, R14), operator's port and feed.

/** Numbers, so that this package needs no driver. */
const invalidArgument = 3;
const notFound = 5;
const alreadyExists = 6;
const permissionDenied = 7;
const failedPrecondition = 9;
const aborted = 10;
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

/** Between services: the public codes, and the refusal of another component's certificate. */
export const serviceErrorStatuses = { ...errorStatuses, permission_denied: permissionDenied } as const;

/** Unlike the public codes these come with sentences, in the trailer `error-detail`. */
export const operatorErrorStatuses = {
  /** The name is taken. */
  already_exists: alreadyExists,
  /** The object was changed concurrently: read it again. */
  conflict: aborted,
  /** One sentence per mistake. */
  invalid_argument: invalidArgument,
  not_found: notFound,
  /** The caller gave no name (metadata `x-operator`). */
  permission_denied: permissionDenied,
  /** A rule forbids it in the present state. */
  refused: failedPrecondition,
  /** A rule forbids it for now; trailer `error-possible-at`. */
  refused_until: failedPrecondition,
  server_error: internal,
  temporarily_unavailable: unavailable,
} as const;

export type OperatorErrorCode = keyof typeof operatorErrorStatuses;
