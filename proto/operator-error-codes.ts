// Every error code of the operator's and the feed's surfaces and the gRPC status that carries it. Unlike the
// public codes (error-codes.ts) they come with sentences: trailer `error-detail`.

/** gRPC status numbers, so that this package needs no driver. */
const invalidArgument = 3;
const notFound = 5;
const alreadyExists = 6;
const permissionDenied = 7;
const failedPrecondition = 9;
const aborted = 10;
const internal = 13;
const unavailable = 14;

export const operatorErrorStatuses = {
  /** Something stands under that name already. */
  already_exists: alreadyExists,
  /** Somebody else changed the object meanwhile: read it again. */
  conflict: aborted,
  /** One sentence for each mistake. */
  invalid_argument: invalidArgument,
  not_found: notFound,
  /** The caller gave no name (metadata `x-operator`). */
  permission_denied: permissionDenied,
  /** A rule forbids it as things stand. */
  refused: failedPrecondition,
  /** A rule forbids it for now; trailer `error-possible-at`. */
  refused_until: failedPrecondition,
  server_error: internal,
  temporarily_unavailable: unavailable,
} as const;

export type OperatorErrorCode = keyof typeof operatorErrorStatuses;
