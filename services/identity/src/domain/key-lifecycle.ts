// The life of a signing key: staged (published) → active (signs) → superseded (published) → retired (R17).
import { keySetLifetime, retiredKeyLifetime, type SigningAlgorithm } from './signing-algorithm.ts';

/** Seconds within which every pod shows and uses what Postgres says about keys. */
const followTime = 10;

/** Seconds from staging to activation: whoever cached a key set before then has read it anew since. */
const publicationTime = keySetLifetime + followTime;

/** Times in milliseconds since the epoch. */
export interface KeyTimes {
  readonly state: 'staged' | 'active' | 'retired';
  readonly publishedAt: number;
  readonly activatedAt: number | null;
  /** When it stopped signing. */
  readonly retiredAt: number | null;
  /** When it left the key set by an operator's word. */
  readonly removedAt: number | null;
}

export interface SigningKeyRecord extends KeyTimes {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
}

export type KeyPhase = 'staged' | 'active' | 'superseded' | 'retired';

export function phaseOf({ state, removedAt }: KeyTimes): KeyPhase {
  if (removedAt !== null) return 'retired';
  return state === 'retired' ? 'superseded' : state;
}

/** When the key may be activated (staged) or retired (superseded), in whole milliseconds: who waits until then is not
 * refused. Undefined where no step waits for time. */
export function nextStepAt(key: KeyTimes): number | undefined {
  const phase = phaseOf(key);
  if (phase === 'staged') return Math.ceil(key.publishedAt) + publicationTime * 1000;
  return phase === 'superseded' ? Math.ceil(key.retiredAt ?? 0) + retiredKeyLifetime * 1000 : undefined;
}
