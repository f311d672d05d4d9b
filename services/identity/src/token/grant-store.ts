// Keys `code:{family id}` and `rt:{family id}`: authorization codes and the refresh families that descend from them
// (specification §3).
//
//   code    valid for 5 minutes → used, in the step that begins its family → forgotten 10 minutes after its issue
//   family  30 days from each rotation; ends by replay of its code (R10), withdrawal (R13) or age
//
// Both hold the SHA-256 of their current secret alone (R18): a consumed refresh token no longer matches (R11). The
// braces are a Cluster hash tag: both keys share a slot, so that one script changes both.
import { formatScope, parseScope, type Scope } from '../clients/scope.ts';
import type { ClientId, ConsentId, FamilyId, SecretHash, Sub } from '../ids.ts';
import type { RedisStore } from '../redis/connect.ts';
import { runReplicated, runScript, script } from '../redis/script.ts';
import type { PresentedToken } from '../secrets.ts';
import type { ChallengeMethod, PkceChallenge } from './pkce.ts';

/** Seconds (specification §3). */
const codeLifetime = 300;

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

/** Unexchanged codes of one user; the next one ends the oldest. */
const mostCodesOfUser = 1_000;

// Each score exceeds those before it, so that the newest code is never evicted.
const list = script(`
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
local newest = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or 0
redis.call('ZADD', KEYS[1], math.max(ARGV[2] + ${codeLifetime * 1_000}, newest + 1), ARGV[1])
redis.call('EXPIRE', KEYS[1], ${codeLifetime})
local over = redis.call('ZCARD', KEYS[1]) - ${mostCodesOfUser}
if over <= 0 then return {} end
local oldest = redis.call('ZRANGE', KEYS[1], 0, over - 1)
redis.call('ZREM', KEYS[1], unpack(oldest))
return oldest`);

const dropUnused = script(`
if redis.call('HEXISTS', KEYS[1], 'used') == 1 then return 0 end
return redis.call('DEL', KEYS[1])`);

/**
 * Counts a code before it is created and ends the user's oldest unexchanged ones. Each step is atomic; a crash between
 * them leaves a code until it expires. `now`: milliseconds since the epoch.
 */
export async function countCode(
  store: RedisStore,
  { sub, familyId }: Pick<GrantRecord, 'sub' | 'familyId'>,
  now: number,
): Promise<void> {
  const key = `code:of:{${sub}}`;
  const oldest = (await runScript(store, 'count code', list, [key], [familyId, now])) as FamilyId[];
  for (const each of oldest) {
    const [code] = grantKeys(each);
    await runScript(store, 'drop code', dropUnused, [code], []);
  }
}

export function grantKeys(familyId: FamilyId): [code: string, family: string] {
  return [`code:{${familyId}}`, `rt:{${familyId}}`];
}

// A family never gets a second code. Its own key is checked too: it outlives the used code's.
const create = script(`
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1`);

/** Keeps `code` unless its family has or had one (R6). True when this call created it. Atomic. */
export async function createAuthorizationCode(store: RedisStore, code: AuthorizationCode): Promise<boolean> {
  const fields = fieldsOf(code, {
    redirect_uri: code.redirectUri,
    nonce: code.nonce,
    challenge: code.pkce?.challenge ?? '',
    method: code.pkce?.method ?? '',
    auth_time: code.authTime ?? '',
  });
  const values = [codeLifetime, ...fields];
  return (
    (await runReplicated(store, 'create authorization code', create, grantKeys(code.familyId), values)) === 1
  );
}

export async function readAuthorizationCode(
  store: RedisStore,
  familyId: FamilyId,
  now: () => number,
): Promise<Read<AuthorizationCode> | undefined> {
  const [key] = grantKeys(familyId);
  const { fields, expiresAt } = await readRecord(store, 'read authorization code', key, now);
  const { redirect_uri = '', nonce = '', challenge, method, auth_time, used } = fields;
  const record = toRecord(familyId, fields, expiresAt);
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

export async function readRefreshFamily(
  store: RedisStore,
  familyId: FamilyId,
  now: () => number,
): Promise<Read<RefreshFamily> | undefined> {
  const [, key] = grantKeys(familyId);
  const { fields, expiresAt } = await readRecord(store, 'read refresh family', key, now);
  const record = toRecord(familyId, fields, expiresAt);
  return record && { ...record, issuedAt: Number(fields.issued_at) };
}

const read = script(`return {redis.call('PTTL', KEYS[1]), redis.call('HGETALL', KEYS[1])}`);

async function readRecord(store: RedisStore, operation: string, key: string, now: () => number) {
  const answer = await runScript(store, operation, read, [key], []);
  const [ttlMs, words] = answer as [number, string[]];
  const fields: Record<string, string> = {};
  for (let i = 0; i < words.length; i += 2) fields[words[i] ?? ''] = words[i + 1] ?? '';
  return { fields, expiresAt: now() + ttlMs };
}

/** A flat list, as HSET takes it; `own`: fields of this kind of record alone. */
export function fieldsOf(
  record: GrantRecord,
  own: Readonly<Record<string, string | number>>,
): (string | number)[] {
  const { hash, clientId: client, sub, consentId: consent, scopes, loggedInAt: logged_in_at } = record;
  const fields = { hash, client, sub, consent, scope: formatScope(scopes), logged_in_at, ...own };
  return Object.entries(fields).flat();
}

/** Only `fieldsOf` writes the keys. */
function toRecord(
  familyId: FamilyId,
  fields: Readonly<Record<string, string>>,
  expiresAt: number,
): Read<GrantRecord> | undefined {
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

// The mark left behind outlives the 10 s in which a browser may repeat its decision, so that a repeat creates no code
// (R6).
const remove = script(`
if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] and redis.call('HGET', KEYS[2], 'hash') ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'used', 1)
redis.call('EXPIRE', KEYS[1], 60)
return 1`);

/** Deletes code and family if `hash` is the current secret of either (R13). Atomic. */
export async function deleteGrant(store: RedisStore, { familyId, hash }: PresentedToken): Promise<void> {
  await runReplicated(store, 'delete grant', remove, grantKeys(familyId), [hash]);
}
