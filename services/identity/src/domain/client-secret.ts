// When a client's secret opens, and when it may be retired without a failed call.
const day = 24 * 60 * 60 * 1000;

/** A secret this near to its end is pointed out. */
const nearExpiry = 14 * day;
/** A secret used within this time is still in use. */
const inUseFor = day;
/** So many may be valid at once. */
export const mostValidSecrets = 10;

/** Times in milliseconds since the epoch. */
export interface SecretTimes {
  readonly expiresAt: number | null;
  readonly retiredAt: number | null;
  readonly lastUsedAt: number | null;
}

export type SecretState = 'valid' | 'near-expiry' | 'expired' | 'retired';

export function secretState({ expiresAt, retiredAt }: SecretTimes, now: number): SecretState {
  if (retiredAt !== null) return 'retired';
  if (expiresAt === null) return 'valid';
  if (expiresAt <= now) return 'expired';
  return expiresAt - now <= nearExpiry ? 'near-expiry' : 'valid';
}

export function opens(secret: SecretTimes, now: number): boolean {
  const state = secretState(secret, now);
  return state === 'valid' || state === 'near-expiry';
}

/** When the secret has not been used for a day; undefined when it was never used. */
export function unusedAt({ lastUsedAt }: SecretTimes): number | undefined {
  return lastUsedAt === null ? undefined : lastUsedAt + inUseFor;
}
