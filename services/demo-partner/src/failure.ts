// Failures that a page can explain, and the log fields of an error.

export type PartnerFailureCode =
  /** No user is connected in this browser. */
  | 'connect_first'
  /** The tokens are gone or not accepted. */
  | 'reconnect'
  /** Trying again later may help. */
  | 'unavailable'
  /** There is no such event for this user. */
  | 'not_found'
  /** The provider refuses, or its answer failed our checks: trying again starts a new flow. */
  | 'connection_failed';

export class PartnerFailure extends Error {
  readonly code: PartnerFailureCode;

  constructor(code: PartnerFailureCode, options?: ErrorOptions) {
    super(code, options);
    this.name = 'PartnerFailure';
    this.code = code;
  }
}

/** Not the message: libraries quote values in it. */
export function describeError(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return {};
  const frames = error.stack?.split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line));
  return {
    error: error.name,
    errorCode: 'code' in error ? error.code : undefined,
    at: frames?.slice(0, 4).map((line) => line.trim().replace(/(file:\/\/)?\/\S*\//, '')),
  };
}
