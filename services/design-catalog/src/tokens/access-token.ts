// tokens/ is who may read: access tokens, verified with identity's key set. What they may read is decided in events/.

// Verifies access tokens at the resource server (specification §5, R15.1). A verified token is cached until it
// expires or its key leaves the set.
import { hash } from 'node:crypto';
import { type RefusedToken, refusedFor, verifyAccessToken } from '@course-exchange/rules/token-verification';
import { Failure } from '@course-exchange/runtime/process/errors';
import { type LogText, logText } from '@course-exchange/runtime/process/logger';
import { nameSubject } from '@course-exchange/runtime/process/request-context';
import { annotate } from '@course-exchange/runtime/process/spans';
import type { CryptoKey } from 'jose';
import type { Owner } from '../events/event.ts';
import type { AccessGrant, ListDeps } from '../events/list.ts';
import type { KeySet, TokenAlgorithm } from './key-set.ts';

export interface TokenVerificationDeps {
  readonly issuer: string;
  readonly algorithm: TokenAlgorithm;
  readonly keySet: Pick<KeySet, 'find' | 'holds'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly keyedUser: (owner: Owner) => LogText;
  /** Called for each refusal, without the token. */
  readonly refused: (refused: RefusedToken) => void;
}

interface Verified extends AccessGrant {
  readonly kind: 'verified';
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly kid: string;
  readonly key: CryptoKey;
}

const mostRemembered = 10_000;
const longestOwner = 255;

export function createTokenVerification(deps: TokenVerificationDeps): ListDeps['authenticate'] {
  const remembered = new Map<string, Verified>();

  return async (token) => {
    if (!token) throw refuse(refusedFor('no_token'), deps);
    const digest = hash('sha256', token, 'base64');
    const known = remembered.get(digest);
    if (known && deps.now() < known.expiresAt && deps.keySet.holds(known.kid, known.key))
      return annotated(known);
    remembered.delete(digest);
    const verified = await verifyToken(token, deps);
    if (verified.kind === 'refused') throw refuse(verified, deps);
    if (remembered.size >= mostRemembered) remembered.delete(remembered.keys().next().value ?? digest);
    remembered.set(digest, verified);
    return annotated(verified);
  };
}

function annotated(verified: Verified): Verified {
  const { client, kid, user } = verified;
  nameSubject({ user, client });
  annotate(() => ({ 'course_exchange.client_id': client, 'course_exchange.access_token.kid': logText(kid) }));
  return verified;
}

function refuse(token: RefusedToken, { refused }: TokenVerificationDeps): Failure<'invalid_token'> {
  nameSubject({ client: token.client });
  refused(token);
  return new Failure('invalid_token', token.reason);
}

async function verifyToken(token: string, deps: TokenVerificationDeps): Promise<Verified | RefusedToken> {
  const { issuer, algorithm, keySet, now, keyedUser } = deps;
  const verified = await verifyAccessToken(token, { issuer, algorithm }, keySet.find, now());
  if (verified.kind === 'refused') return verified;
  const { sub, clientId: client, exp, kid, key } = verified;
  if (!isOwner(sub)) return refusedFor('subject', { client_id: client });
  const grant = { owner: sub, client: logText(client), user: keyedUser(sub) };
  return { kind: 'verified', ...grant, expiresAt: exp * 1_000, kid, key };
}

function isOwner(sub: string): sub is Owner {
  return sub !== '' && sub.length <= longestOwner && !sub.includes('\0');
}
