// Random secrets and their hashes. What the service gives out is kept as SHA-256 only (R18).
import { createHash, timingSafeEqual } from 'node:crypto';
import type { RandomBytes, SecretHash } from './ids.ts';

/** 256 random bits as base64url: A–Z a–z 0–9 - _ only, so that no client library can garble them (R18). */
export function newSecret(randomBytes: RandomBytes): string {
  return randomBytes(32).toString('base64url');
}

/** What a secret written by `newSecret` looks like. */
export const secretPattern = /^[A-Za-z0-9_-]{43}$/;

export function hashSecret(secret: string): SecretHash {
  return createHash('sha256').update(secret).digest('base64url') as SecretHash;
}

/** Compares two hashes of `hashSecret` in constant time. */
export function sameHash(a: SecretHash, b: SecretHash): boolean {
  return sameText(a, b);
}

/** Compares in constant time; only the length is told. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
