// Errors that callers see: a code, no text about the request.
import { randomInt } from 'node:crypto';

/** With a public code (specification §7); other errors lose their text at the process boundary (R14.6). */
export class Failure<Code extends string = string> extends Error {
  readonly code: Code;

  /**
   * `reason` is for engineers and never quotes the request: a constant sentence, or grpc-js' words, which are never a
   * metric label.
   */
  constructor(code: Code, reason: string = code, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'Failure';
    this.code = code;
  }
}

/**
 * `detail`: one sentence per mistake, which may name what was requested. It crosses only on ports that send details.
 */
export class DetailedFailure<Code extends string = string> extends Failure<Code> {
  readonly detail: string;
  /** When the request will no longer be refused, milliseconds since the epoch. */
  readonly possibleAt: number | undefined;

  constructor(code: Code, detail: string, options: ErrorOptions & { readonly possibleAt?: number } = {}) {
    super(code, code, options);
    this.detail = detail;
    this.possibleAt = options.possibleAt;
  }
}

/** Seconds, 1 to 5 at random, for `Retry-After` (R14.7). */
export function retryAfterSeconds(): number {
  return randomInt(1, 6);
}

/** Values of the label `reason`. */
export type OverloadReason =
  | 'no_capacity'
  | 'queued_too_long'
  | 'deadline'
  | 'client_disconnected'
  | 'request_bytes_at_capacity'
  | 'answer_bytes_at_capacity'
  | 'too_many_calls_in_flight'
  | 'password_queue_full'
  | 'no_login_permit'
  | 'user_keeps_changing'
  | 'script_after_deadline';

/** More work than this process can finish in time (R14.7). */
export class Overloaded extends Failure<'temporarily_unavailable'> {
  constructor(reason: OverloadReason) {
    super('temporarily_unavailable', reason);
  }
}

export function isFault(error: unknown): boolean {
  if (!(error instanceof Failure)) return true;
  return error.code === 'temporarily_unavailable' || error.code === 'server_error';
}

/** A store or service did not answer (R14.1). */
export function unavailable(what: string, cause?: unknown): Failure<'temporarily_unavailable'> {
  return new Failure('temporarily_unavailable', `${what} does not answer`, { cause });
}
