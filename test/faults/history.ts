// The history of a run: each operation of the workload with the times of its call and of its answer, each fault, and when
// the machine stood still. Codes and refresh tokens are known here by a hash alone.
import { createHash } from 'node:crypto';
import type { Kind, Row } from './table.ts';

/** Of a code or a refresh token. */
export type SecretId = string & { readonly kind: 'secret' };

export function secretId(secret: string): SecretId {
  return createHash('sha256').update(secret).digest('base64url').slice(0, 12) as SecretId;
}

/** Milliseconds on the clock of `performance.now()`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Operation {
  readonly kind: Kind | 'withdrawal';
  readonly called: number;
  /** When the answer came, or was given up. */
  readonly answered: number;
  /**
   * `good`: what an operation of its kind gets while all is well. `refused`: `invalid_grant`. `unavailable`: what R14 says,
   * whole. `none`: no answer. Any other by its status and code.
   */
  readonly answer: string;
  /** The code or refresh token that was sent. */
  readonly presents?: SecretId | undefined;
  /** The code or refresh token that came. */
  readonly brings?: SecretId | undefined;
  /** Who agreed, or whose consent was withdrawn. */
  readonly person?: string | undefined;
}

/** One fault as it was played. */
export interface Outage {
  readonly row: Row;
  readonly begun: number;
  /** From here on it was complete. */
  readonly struck: number;
  /** Until here. */
  readonly healing: number;
  /** Its end was observed. */
  readonly over: number;
}

export interface History {
  /** In the order of their answers. */
  readonly operations: readonly Operation[];
  readonly outages: readonly Outage[];
  /** In their order: a probe process did not run, or this one. */
  readonly stalls: readonly Span[];
}
