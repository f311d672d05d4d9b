// keys/ is the signing keys: their states and rotation by operators, their encryption at rest, and the ring in memory that signs,
// verifies and publishes. Which claims are signed is decided in token/.

// A signing key.
//
//   staged ──────► active ──────► superseded ──────► retired
//   published,     published,     published,         out of the key set,
//   does not sign  signs          signs no more      private half erased, for good
//
// - Each algorithm has at most one active key and, by the rule of `admin.ts`, at most one staged key. The migration job
//   makes the first key, which is active at once (R17.3); every later one is staged first.
// - staged → active only after `publicationTime`: cached key sets without it have expired (R17.1). The active key
//   becomes superseded in the same transaction.
// - superseded → retired by an operator after `supersededLifetime`: its last token has expired (R17.2). The key set
//   omits it from then on in any case. A staged key may be retired at any time.
// - An emergency skips both waits. Nothing leads back, and an active key is never retired.
import { keySetLifetime, tokenLifetime } from '@course-exchange/rules/access-token';

export const signingAlgorithms = ['ES256', 'RS256'] as const;
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** Seconds within which every pod follows Postgres. */
const followTime = 10;

/** Seconds. */
const publicationTime = keySetLifetime + followTime;

/** Seconds: the last token's life (R17.2), and a minute for slow pods. */
export const supersededLifetime = tokenLifetime + 60;

export type KeyState = 'staged' | 'active' | 'superseded' | 'retired';

/** Milliseconds since the epoch. */
export interface SigningKeyRecord {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly state: KeyState;
  readonly publishedAt: number;
  readonly activatedAt: number | null;
  readonly supersededAt: number | null;
  readonly retiredAt: number | null;
}

/** Milliseconds, rounded up. */
export function nextStepAt(key: SigningKeyRecord): number | undefined {
  if (key.state === 'staged') return Math.ceil(key.publishedAt) + publicationTime * 1000;
  return key.state === 'superseded'
    ? Math.ceil(key.supersededAt ?? 0) + supersededLifetime * 1000
    : undefined;
}
