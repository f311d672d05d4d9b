// Failures that a page can explain, and what a log line says about an error.

export type PartnerFailureCode =
  /** No user is connected in this browser: never was, has disconnected, or the session is over. */
  | 'connect_first'
  /** The tokens are gone or no longer accepted: the user has to connect again. */
  | 'reconnect'
  /** The provider does not answer at the moment: trying again later may help. */
  | 'unavailable'
  /** There is no such event for this user. */
  | 'not_found'
  /** The provider refuses, or its answer did not pass our checks: trying again starts a new flow. */
  | 'connection_failed';

export class PartnerFailure extends Error {
  readonly code: PartnerFailureCode;

  constructor(code: PartnerFailureCode, options?: ErrorOptions) {
    super(code, options);
    this.name = 'PartnerFailure';
    this.code = code;
  }
}

/** Class, code and stack of an error. Not its message: libraries quote values in it. */
export function describeError(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return {};
  const frames = error.stack?.split('\n').filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line));
  return {
    error: error.name,
    errorCode: 'code' in error ? error.code : undefined,
    at: frames?.slice(0, 4).map((line) => line.trim().replace(/(file:\/\/)?\/\S*\//, '')),
  };
}
