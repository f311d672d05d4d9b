// What Redis holds of a code and of the refresh family that descends from it (specification §3), as a hash:
//
//   code    valid for 5 minutes → used, in the step that begins its family → forgotten 10 minutes after its issue
//   family  30 days from each rotation; ends by replay of its code (R10), withdrawal (R13) or age
//
// Both hold the SHA-256 of their current secret alone (R18): a consumed refresh token no longer matches (R11).
import { formatScope, parseScope, type Scope } from '../clients/scope.ts';
import type { ClientId, ConsentId, FamilyId, SecretHash, Sub } from '../ids.ts';
import type { ChallengeMethod, PkceChallenge } from './pkce.ts';

export interface GrantRecord {
  readonly familyId: FamilyId;
  /** Of the code's secret, or of the family's current token's. */
  readonly hash: SecretHash;
  readonly clientId: ClientId;
  readonly sub: Sub;
  readonly consentId: ConsentId;
  /** As granted; a refresh narrows its access token only (R12). */
  readonly scopes: readonly Scope[];
  /** The login that the grant rests on, milliseconds since the epoch. A later sign-out ends it (R13). */
  readonly loggedInAt: number;
}

export interface AuthorizationCode extends GrantRecord {
  readonly redirectUri: string;
  readonly nonce: string;
  readonly pkce: PkceChallenge | undefined;
  /** Seconds since the epoch; only under `max_age` (R5). */
  readonly authTime: number | undefined;
  /** It was exchanged: the next request is a replay (R10). */
  readonly used?: boolean;
}

export interface RefreshFamily extends GrantRecord {
  /** Of the current token, milliseconds since the epoch. */
  readonly issuedAt: number;
}

export type Read<Record extends GrantRecord> = Record & {
  /** Milliseconds since the epoch by our clock; late by the duration of the read at most. */
  readonly expiresAt: number;
};

/** A hash as Redis gave it; empty where there is no such key. */
export interface FoundFields {
  readonly familyId: FamilyId;
  readonly fields: Readonly<Record<string, string>>;
  readonly expiresAt: number;
}

/** A flat list, as HSET takes it; `own`: fields of this kind of record alone. */
function fieldsOf(record: GrantRecord, own: Readonly<Record<string, string | number>>): (string | number)[] {
  const { hash, clientId: client, sub, consentId: consent, scopes, loggedInAt: logged_in_at } = record;
  const fields = { hash, client, sub, consent, scope: formatScope(scopes), logged_in_at, ...own };
  return Object.entries(fields).flat();
}

export function codeFields(code: AuthorizationCode) {
  return fieldsOf(code, {
    redirect_uri: code.redirectUri,
    nonce: code.nonce,
    challenge: code.pkce?.challenge ?? '',
    method: code.pkce?.method ?? '',
    auth_time: code.authTime ?? '',
  });
}

export function familyFields(family: RefreshFamily) {
  return fieldsOf(family, { issued_at: family.issuedAt });
}

/** Only `codeFields` and `familyFields` write what is read here. */
export function toCode(found: FoundFields): Read<AuthorizationCode> | undefined {
  const record = toRecord(found);
  const { redirect_uri = '', nonce = '', challenge, method, auth_time, used } = found.fields;
  return (
    record && {
      ...record,
      redirectUri: redirect_uri,
      nonce,
      pkce: challenge ? { challenge, method: method as ChallengeMethod } : undefined,
      authTime: auth_time ? Number(auth_time) : undefined,
      used: used !== undefined,
    }
  );
}

export function toFamily(found: FoundFields): Read<RefreshFamily> | undefined {
  const record = toRecord(found);
  return record && { ...record, issuedAt: Number(found.fields.issued_at) };
}

function toRecord({ familyId, fields, expiresAt }: FoundFields): Read<GrantRecord> | undefined {
  const { hash, client, sub, consent, scope = '', logged_in_at } = fields;
  if (!hash) return undefined;
  return {
    familyId,
    hash: hash as SecretHash,
    clientId: client as ClientId,
    sub: sub as Sub,
    consentId: consent as ConsentId,
    scopes: parseScope(scope) ?? [],
    loggedInAt: Number(logged_in_at),
    expiresAt,
  };
}
