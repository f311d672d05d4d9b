// Every error code and its gRPC status: public (specification §7, R14.1, R14.6), operator's port and feed.

export const errorStatuses = {
  access_denied: 'PERMISSION_DENIED',
  invalid_client: 'UNAUTHENTICATED',
  invalid_grant: 'FAILED_PRECONDITION',
  invalid_redirect_uri: 'INVALID_ARGUMENT',
  invalid_request: 'INVALID_ARGUMENT',
  invalid_scope: 'INVALID_ARGUMENT',
  invalid_token: 'UNAUTHENTICATED',
  not_found: 'NOT_FOUND',
  server_error: 'INTERNAL',
  temporarily_unavailable: 'UNAVAILABLE',
  unsupported_grant_type: 'INVALID_ARGUMENT',
  unsupported_response_type: 'INVALID_ARGUMENT',
} as const;

export type ErrorCode = keyof typeof errorStatuses;

/** Between services: the public codes, and the refusal of another component's certificate. */
export const serviceErrorStatuses = { ...errorStatuses, permission_denied: 'PERMISSION_DENIED' } as const;

/** Unlike the public codes these come with sentences, in the trailer `error-detail`. */
export const operatorErrorStatuses = {
  /** The name is taken. */
  already_exists: 'ALREADY_EXISTS',
  /** The object was changed concurrently: read it again. */
  conflict: 'ABORTED',
  /** One sentence per mistake. */
  invalid_argument: 'INVALID_ARGUMENT',
  not_found: 'NOT_FOUND',
  /** The caller gave no name (metadata `x-operator`), or its role may not call the method. */
  permission_denied: 'PERMISSION_DENIED',
  /** A rule forbids it in the present state. */
  refused: 'FAILED_PRECONDITION',
  /** A rule forbids it for now; trailer `error-possible-at`. */
  refused_until: 'FAILED_PRECONDITION',
  server_error: 'INTERNAL',
  temporarily_unavailable: 'UNAVAILABLE',
} as const;

export type OperatorErrorCode = keyof typeof operatorErrorStatuses;
