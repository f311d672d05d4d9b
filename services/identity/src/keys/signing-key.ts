// A signing key: what identity signs tokens with, and what the key set publishes (R15, R17, R18).
//
//   staged ──────► active ──────► superseded ──────► retired
//   published,     published,     published,         out of the key set,
//   does not sign  signs          signs no more      private half erased, for good
//
// - Each algorithm has at most one active key and, by the rule of `admin.ts`, at most one staged key. The first key of
//   an algorithm is born active (the migration job makes it); every later one is staged first.
// - staged → active only after `publicationTime`: whoever cached the key set before the key was in it has read it anew.
//   The active key before it becomes superseded in the same statement's transaction.
// - superseded → retired by an operator after `supersededLifetime`: the last token that it signed has expired. The key
//   set leaves it out from then on even if nobody retires it. A staged key may be retired at any time.
// - An emergency skips both waits. Nothing leads back, and an active key is never retired.
//
// The states are the column `state` of table `signing_keys` (`key-table.ts`), and the same words on the wire and in
// partnerctl. Private halves are encrypted at rest (`private-key.ts`); every pod follows the table from memory
// (`ring.ts`); operators move keys one step (`admin.ts`) or through all of them (`rotation.ts`).
import { keySetLifetime, tokenLifetime } from '@course-exchange/rules/access-token';

export const signingAlgorithms = ['ES256', 'RS256'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** Seconds within which every pod publishes and uses what Postgres says about keys. */
const followTime = 10;

/** Seconds from staging to activation. */
const publicationTime = keySetLifetime + followTime;

/** Seconds for which a superseded key stays published: its last token's life (R17), and a minute for pods that had
 * not yet followed. */
export const supersededLifetime = tokenLifetime + 60;

export type KeyState = 'staged' | 'active' | 'superseded' | 'retired';

/** Times in milliseconds since the epoch; null where that state was not reached. */
export interface SigningKeyRecord {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly state: KeyState;
  readonly publishedAt: number;
  readonly activatedAt: number | null;
  readonly supersededAt: number | null;
  readonly retiredAt: number | null;
}

/** When a staged key may be activated or a superseded one retired, in whole milliseconds, rounded up: whoever waits
 * until then is not refused. Undefined for an active and a retired key: they wait for nothing. */
export function nextStepAt(key: SigningKeyRecord): number | undefined {
  if (key.state === 'staged') return Math.ceil(key.publishedAt) + publicationTime * 1000;
  return key.state === 'superseded'
    ? Math.ceil(key.supersededAt ?? 0) + supersededLifetime * 1000
    : undefined;
}
