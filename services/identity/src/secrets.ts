// Random secrets, their hashes, and the codes and tokens made of them. What the service gives out is kept as
// SHA-256 only (R18).
import { hash, timingSafeEqual } from 'node:crypto';
import type { ConsentId, FamilyId, RandomBytes, SecretHash, Sub } from './ids.ts';

/** 256 random bits as base64url: A–Z a–z 0–9 - _ only, so that no client library can garble them (R18). */
export function newSecret(randomBytes: RandomBytes): string {
  return randomBytes(32).toString('base64url');
}

/** A name of 128 random bits; it opens nothing by itself. */
export function newId<Id extends Sub | ConsentId | FamilyId>(randomBytes: RandomBytes): Id {
  return randomBytes(16).toString('base64url') as Id;
}

const poolBytes = 4_096;

/**
 * `randomBytes` asked for 4 KiB at a time: a call costs more than the bytes. No byte is given out twice, and none that was
 * given out stays in the pool, so that its memory tells nothing of earlier secrets.
 */
export function pooled(randomBytes: RandomBytes): RandomBytes {
  let pool: Buffer = Buffer.alloc(0);
  return (size) => {
    if (size > poolBytes) return randomBytes(size);
    if (pool.length < size) pool = randomBytes(poolBytes);
    const taken = Buffer.from(pool.subarray(0, size));
    pool.fill(0, 0, size);
    pool = pool.subarray(size);
    return taken;
  };
}

/** What a secret written by `newSecret` looks like. */
export const secretPattern = /^[A-Za-z0-9_-]{43}$/;

/** SHA-256. */
export function digestSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

export function hashSecret(secret: string): SecretHash {
  return hash('sha256', secret, 'base64url') as SecretHash;
}

/** Compares two hashes of `hashSecret` in constant time. */
export function sameHash(a: SecretHash, b: SecretHash): boolean {
  return sameText(a, b);
}

/** Compares in constant time; only the length shows. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A code or refresh token as somebody presented it: which record it names, and the hash of its secret. */
export interface PresentedToken {
  readonly familyId: FamilyId;
  readonly hash: SecretHash;
}

const familyIdLength = 22;
const familyIdPattern = /^[A-Za-z0-9_-]{22}$/;

/**
 * An authorization code or refresh token as it is given out: the family's 22 characters, then the secret's 43,
 * with nothing between, so that only A–Z a–z 0–9 - _ occur (R18).
 */
export function formatToken(familyId: FamilyId, secret: string): string {
  return `${familyId}${secret}`;
}

/** Undefined when `token` cannot be one of ours. */
export function parseToken(token: string): PresentedToken | undefined {
  const familyId = token.slice(0, familyIdLength);
  const secret = token.slice(familyIdLength);
  if (!familyIdPattern.test(familyId) || !secretPattern.test(secret)) return undefined;
  return { familyId: familyId as FamilyId, hash: hashSecret(secret) };
}
