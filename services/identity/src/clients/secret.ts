// A client's secret: 256 random bits that are shown once and kept as SHA-256 only (R18.1, R18.2).
//
//   valid ──► near-expiry ──► expired       by time, where the secret expires at all
//      ├────────────┴──► retired            by an operator, for good
//      └◄──► suspended                      by a restore fence, until an operator resumes it
//
// - Up to ten are valid at a time, so that one is replaced without a failed call.
// - A secret that the partner may still send is not retired unless the operator says so: its last use is recorded
//   (`secret-table.ts`) and decides (`secret-admin.ts`).
const day = 24 * 60 * 60 * 1000;

const nearExpiry = 14 * day;
const inUseFor = day;
export const maxValidSecrets = 10;

/** Times in milliseconds since the epoch. */
export interface SecretTimes {
  readonly expiresAt: number | null;
  readonly retiredAt: number | null;
  readonly suspendedAt: number | null;
  readonly lastUsedAt: number | null;
}

export type SecretState = 'valid' | 'near-expiry' | 'expired' | 'retired' | 'suspended';

export function secretState({ expiresAt, retiredAt, suspendedAt }: SecretTimes, now: number): SecretState {
  if (retiredAt !== null) return 'retired';
  if (suspendedAt !== null) return 'suspended';
  if (expiresAt === null) return 'valid';
  if (expiresAt <= now) return 'expired';
  return expiresAt - now <= nearExpiry ? 'near-expiry' : 'valid';
}

export function isSecretValid(secret: SecretTimes, now: number): boolean {
  const state = secretState(secret, now);
  return state === 'valid' || state === 'near-expiry';
}

export function unusedAt({ lastUsedAt }: SecretTimes): number | undefined {
  return lastUsedAt === null ? undefined : lastUsedAt + inUseFor;
}
