// Random secrets, codes and tokens. Only their SHA-256 is stored (R18.2).
import { hash, timingSafeEqual } from 'node:crypto';
import type { ConsentId, FamilyId, RandomBytes, SecretHash, Sub } from './ids.ts';

/** 256 bits as base64url, which no client library garbles (R18.1). */
export function newSecret(randomBytes: RandomBytes): string {
  return randomBytes(32).toString('base64url');
}

/** 128 bits; not a secret. Without a dash in front, which a command line takes for an option. */
export function newId<Id extends Sub | ConsentId | FamilyId>(randomBytes: RandomBytes): Id {
  return randomBytes(16).toString('base64url').replace(/^-/, '_') as Id;
}

const poolBytes = 4_096;

/** No byte is used twice or stays in the pool. */
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

export const secretPattern = /^[A-Za-z0-9_-]{43}$/;

export function digestSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

export function hashSecret(secret: string): SecretHash {
  return hash('sha256', secret, 'base64url') as SecretHash;
}

/** Constant time. */
export function sameHash(a: SecretHash, b: SecretHash): boolean {
  return sameText(a, b);
}

/** Constant time for texts of equal length. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The id of its record, and the hash of its secret. */
export interface PresentedToken {
  readonly familyId: FamilyId;
  readonly hash: SecretHash;
}

const tokenForm = /^([A-Za-z0-9_-]{22})([A-Za-z0-9_-]{43})$/;

/** The family's 22 characters, then the secret's 43, without a separator (R18.1). */
export function formatToken(familyId: FamilyId, secret: string): string {
  return `${familyId}${secret}`;
}

export function parseToken(token: string): PresentedToken | undefined {
  const [, familyId, secret] = tokenForm.exec(token) ?? [];
  if (familyId === undefined || secret === undefined) return undefined;
  return { familyId: familyId as FamilyId, hash: hashSecret(secret) };
}
