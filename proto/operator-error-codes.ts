// Every error code of the operator's and the platform's surfaces, and the gRPC status that carries it. None of
// them reaches a partner; those are in error-codes.ts.

export const operatorErrorStatuses = {
  already_exists: 6,
  conflict: 10,
  invalid_argument: 3,
  not_found: 5,
  /** Possible later; the detail names the time. */
  refused_until: 9,
  server_error: 13,
  temporarily_unavailable: 14,
} as const;

export type OperatorErrorCode = keyof typeof operatorErrorStatuses;
