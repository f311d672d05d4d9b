// Authorization codes and refresh tokens as they are given out: `<family>.<secret>`. The family finds the
// record, the secret opens it; only the secret's hash is kept (R18).
import { type FamilyId, isFamilyId, type SecretHash } from './ids.ts';
import { hashSecret, secretPattern } from './secrets.ts';

/** A code or token as somebody presented it. */
export interface PresentedToken {
  readonly family: FamilyId;
  readonly hash: SecretHash;
}

export function formatToken(family: FamilyId, secret: string): string {
  return `${family}.${secret}`;
}

/** Undefined when `token` cannot be one of ours. */
export function parseToken(token: string): PresentedToken | undefined {
  const dot = token.indexOf('.');
  const family = token.slice(0, dot);
  const secret = token.slice(dot + 1);
  if (dot < 0 || !isFamilyId(family) || !secretPattern.test(secret)) return undefined;
  return { family, hash: hashSecret(secret) };
}
