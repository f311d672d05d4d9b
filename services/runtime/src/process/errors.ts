// The one error class for outcomes that a caller is told: a code, no text about the request.
import { randomInt } from 'node:crypto';

/**
 * A refusal or fault with a public code (specification §7; `temporarily_unavailable` and `server_error`
 * by R14). Everything else that is thrown is unforeseen and loses its text at the process boundary.
 */
export class Failure<Code extends string = string> extends Error {
  readonly code: Code;

  /** `reason` is a constant sentence for engineers; it never quotes the request. */
  constructor(code: Code, reason: string = code, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'Failure';
    this.code = code;
  }
}

/**
 * A Failure that an operator is told in full: `detail` is one sentence for each mistake and may name what was
 * asked for. It crosses only on ports that send details; elsewhere the code alone does.
 */
export class DetailedFailure<Code extends string = string> extends Failure<Code> {
  readonly detail: string;
  /** From when on the same request is no longer refused, milliseconds since the epoch. */
  readonly possibleAt: number | undefined;

  constructor(code: Code, detail: string, options: ErrorOptions & { readonly possibleAt?: number } = {}) {
    super(code, code, options);
    this.detail = detail;
    this.possibleAt = options.possibleAt;
  }
}

export const shortestRetryAfterSeconds = 1;

/** Seconds, 1 to 5, for `Retry-After`: whoever is told `temporarily_unavailable` comes back at a time of its own (R14). */
export function retryAfterSeconds(): number {
  return randomInt(shortestRetryAfterSeconds, 6);
}

/** More work than this process can do in time (R14). */
export class Overloaded extends Failure<'temporarily_unavailable'> {
  /** Where it was refused; no further line is written. */
  readonly isLogged: boolean;

  constructor(reason: string, isLogged = false) {
    super('temporarily_unavailable', reason);
    this.isLogged = isLogged;
  }
}

/** Whether `error` is ours: neither a refusal nor what a caller did wrong. */
export function isFault(error: unknown): boolean {
  if (!(error instanceof Failure)) return true;
  return error.code === 'temporarily_unavailable' || error.code === 'server_error';
}

/** A store or service did not answer (R14). */
export function unavailable(what: string, cause?: unknown): Failure<'temporarily_unavailable'> {
  return new Failure(
    'temporarily_unavailable',
    `${what} does not answer`,
    cause === undefined ? {} : { cause },
  );
}
