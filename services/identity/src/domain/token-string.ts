// Authorization codes and refresh tokens as they are given out: the family's 22 characters, then the
// secret's 43, with nothing between, so that only A–Z a–z 0–9 - _ occur (R18). The family finds the record,
// the secret opens it; only the secret's hash is kept.
import { type FamilyId, isFamilyId, type SecretHash } from './ids.ts';
import { hashSecret, secretPattern } from './secrets.ts';

/** A code or token as somebody presented it. */
export interface PresentedToken {
  readonly family: FamilyId;
  readonly hash: SecretHash;
}

const familyLength = 22;

export function formatToken(family: FamilyId, secret: string): string {
  return `${family}${secret}`;
}

/** Undefined when `token` cannot be one of ours. */
export function parseToken(token: string): PresentedToken | undefined {
  const family = token.slice(0, familyLength);
  const secret = token.slice(familyLength);
  if (!isFamilyId(family) || !secretPattern.test(secret)) return undefined;
  return { family, hash: hashSecret(secret) };
}
