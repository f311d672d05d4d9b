// What Redis holds of a code and of the refresh family that descends from it (specification §3), as a hash:
//
//   code    valid for 5 minutes → used, in the step that begins its family → forgotten 10 minutes after its issue
//   family  its current token is valid for 30 days → expired, or revoked meanwhile by replay of its code (R10.2) or
//           withdrawal (R13.3) → forgotten 37 days after the last rotation (R33.3), or once its user has too many (R11.5)
//
// Both match the SHA-256 of their current secret alone (R18.2): a consumed refresh token no longer matches (R11.2). A
// family keeps the beginning of the hash that it replaced last, to explain a refusal. A revoked family matches nothing,
// for ever.
import { hash as digest } from 'node:crypto';
import { inMilliseconds, type Seconds, seconds } from '@course-exchange/rules/brand';
import { formatScope, parseScope, type Scope } from '../clients/scope.ts';
import type { ClientId, ConsentId, FamilyId, SecretHash, Sub } from '../ids.ts';
import type { EarlierRequest } from '../refusals/reasons.ts';
import type { ReasonOf } from '../security-events.ts';
import { asS256, type ChallengeMethod, type PkceChallenge } from './pkce.ts';

/** Specification §3. */
export const refreshTokenLifetime = seconds(30 * 24 * 60 * 60);
/** R33.3. */
export const endedFamilyMemory = seconds(7 * 24 * 60 * 60);
/** Bytes: of Redis's `hash-max-listpack-value`. */
const mostPacked = 64;

export interface GrantRecord {
  readonly familyId: FamilyId;
  /** Of the code's secret, or the family's current token's. */
  readonly hash: SecretHash;
  readonly clientId: ClientId;
  readonly sub: Sub;
  readonly consentId: ConsentId;
  /** A refresh narrows its access token only (R12). */
  readonly scopes: readonly Scope[];
  /** The login of the grant, milliseconds since the epoch. A later sign-out ends it (R13.5). */
  readonly loggedInAt: number;
}

export interface AuthorizationCode extends GrantRecord {
  readonly redirectUri: string;
  readonly nonce: string;
  /** The authorization request had no `state`. */
  readonly stateMissing?: boolean;
  readonly pkce: PkceChallenge | undefined;
  /** Since the epoch; only under `max_age` (R5.6). */
  readonly authTime: Seconds | undefined;
  /** The next request is a replay (R10.1). */
  readonly used?: boolean;
  /** Undefined also if an older release exchanged it. */
  readonly usedBy?: EarlierRequest | undefined;
}

export interface RefreshFamily extends GrantRecord {
  /** The current token's, milliseconds since the epoch. */
  readonly issuedAt: number;
}

export interface NextToken extends Pick<RefreshFamily, 'hash' | 'issuedAt'> {
  readonly requestId: string;
}

export interface Revocation extends EarlierRequest {
  readonly revoked: ReasonOf<'grant.revoked'>;
}

export interface RevokedFamily extends Omit<GrantRecord, 'hash'> {
  readonly kind: 'revoked';
  readonly revocation: Revocation;
}

export type Read<Record extends GrantRecord> = Record & {
  readonly kind: 'grant';
  /** End of its key, milliseconds since the epoch by our clock; late by the duration of the read at most. */
  readonly keptUntil: number;
  /** Milliseconds that the key outlives the secret; 0 for a code, and for an older release's token. */
  readonly memoryMs: number;
  /** By Redis's clock, when it was read. */
  readonly expired: boolean;
  /** The last rotation, and the label of the replaced token. */
  readonly rotation?: { readonly replaced: string; readonly by: EarlierRequest } | undefined;
};

/** A Redis hash; empty if there is no such key. */
export interface FoundFields {
  readonly familyId: FamilyId;
  readonly fields: Readonly<Record<string, string>>;
  readonly ttlMs: number;
  /** Milliseconds since the epoch, after the answer. */
  readonly now: number;
}

/** Characters of a hash, 96 bits: they distinguish one family's tokens and open nothing. */
export const labelLength = 16;

export function labelOf(hash: SecretHash): string {
  return hash.slice(0, labelLength);
}

/** A flat list for HSET; `own`: fields of this kind of record. */
function fieldsOf(record: GrantRecord, own: Readonly<Record<string, string | number>>): (string | number)[] {
  const { hash, clientId: client, sub, consentId: consent, scopes, loggedInAt: logged_in_at } = record;
  const fields = { hash, client, sub, consent, scope: formatScope(scopes), logged_in_at, ...own };
  return Object.entries(fields).flat();
}

export function codeFields(code: AuthorizationCode) {
  return fieldsOf(code, {
    redirect_uri: code.redirectUri,
    nonce: code.nonce,
    state_missing: code.stateMissing ? 1 : '',
    challenge: code.pkce?.challenge ?? '',
    method: code.pkce?.method ?? '',
    auth_time: code.authTime ?? '',
  });
}

/**
 * What R10.2 needs, in values that Redis packs: a hash with a longer one takes twice the memory. The S256 of a plain
 * challenge has the same verifier.
 */
export function usedCodeFields(
  { hash, clientId: client, sub, redirectUri, pkce }: AuthorizationCode,
  { issuedAt, requestId }: NextToken,
) {
  const own = { redirect_uri: packed(redirectUri), ...(pkce && asS256(pkce)) };
  const fields = { hash, client, sub, ...own, used: issuedAt, used_by: requestId };
  return Object.entries<string | number>(fields).flat();
}

/** A used code may have the hash of a long one, which is no URI. */
export function isRedirectUriOf({ redirectUri, used }: AuthorizationCode, presented: string): boolean {
  return redirectUri === (used ? packed(presented) : presented);
}

function packed(uri: string): string {
  return Buffer.byteLength(uri) > mostPacked ? digest('sha256', uri, 'base64url') : uri;
}

/** `step`: the label of the current token, then of the one that it replaced. An older release rotates and leaves it behind. */
export function familyFields(record: GrantRecord, { hash, issuedAt, requestId }: NextToken) {
  const own = { issued_at: issuedAt, step: labelOf(hash), step_by: requestId };
  return fieldsOf({ ...record, hash }, own);
}

/** Only `codeFields` writes it, and `grant-store.ts` what changes. */
export function toCode(found: FoundFields): Read<AuthorizationCode> | undefined {
  const record = toRecord(found, 0);
  const { redirect_uri = '', nonce = '', state_missing, challenge, method, auth_time } = found.fields;
  const { used, used_by } = found.fields;
  return (
    record && {
      ...record,
      redirectUri: redirect_uri,
      nonce,
      stateMissing: state_missing === '1',
      pkce: challenge ? { challenge, method: method as ChallengeMethod } : undefined,
      authTime: auth_time ? seconds(Number(auth_time)) : undefined,
      used: used !== undefined,
      usedBy: toEarlier(used, used_by),
    }
  );
}

export function toFamily(found: FoundFields): Read<RefreshFamily> | RevokedFamily | undefined {
  const {
    hash = '',
    issued_at,
    step = '',
    step_by = '',
    revoked,
    revoked_by = '',
    revoked_at,
  } = found.fields;
  if (revoked) {
    const revocation = {
      requestId: revoked_by,
      at: Number(revoked_at),
      revoked: revoked as Revocation['revoked'],
    };
    return { kind: 'revoked', ...toGrant(found), revocation };
  }
  const label = labelOf(hash as SecretHash);
  const isStepOfToken = step.startsWith(label);
  const record = toRecord(found, isStepOfToken ? inMilliseconds(endedFamilyMemory) : 0);
  const issuedAt = Number(issued_at);
  const replaced = isStepOfToken ? step.slice(label.length) : '';
  const rotation = replaced ? { replaced, by: { requestId: step_by, at: issuedAt } } : undefined;
  return record && { ...record, issuedAt, rotation };
}

/** The request that replaced the token of `hash`, if it was the last rotation. */
export function replacementOf({ rotation }: Read<GrantRecord>, hash: SecretHash): EarlierRequest | undefined {
  return rotation?.replaced === labelOf(hash) ? rotation.by : undefined;
}

function toRecord(found: FoundFields, memoryMs: number): Read<GrantRecord> | undefined {
  const { hash } = found.fields;
  if (!hash) return undefined;
  const { ttlMs, now } = found;
  const read = { keptUntil: now + ttlMs, memoryMs, expired: memoryMs > 0 && ttlMs <= memoryMs };
  return { kind: 'grant', ...toGrant(found), hash: hash as SecretHash, ...read };
}

function toGrant({ familyId, fields }: FoundFields): Omit<GrantRecord, 'hash'> {
  const { client, sub, consent, scope = '', logged_in_at } = fields;
  return {
    familyId,
    clientId: client as ClientId,
    sub: sub as Sub,
    consentId: consent as ConsentId,
    scopes: parseScope(scope) ?? [],
    loggedInAt: Number(logged_in_at),
  };
}

/** Undefined without the request: a deleted grant's code, or one that an older release exchanged. */
export function toEarlier(
  at: string | undefined,
  requestId: string | null | undefined,
): EarlierRequest | undefined {
  return at === undefined || requestId == null ? undefined : { requestId, at: Number(at) };
}
