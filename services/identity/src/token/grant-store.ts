// Keys `code:{family id}` and `rt:{family id}`: authorization codes and the refresh families that descend from them
// (specification §3).
//
//   code    valid for 5 minutes → used, in the step that begins its family → forgotten 10 minutes after its issue
//   family  30 days from each rotation; ends by replay of its code (R10), withdrawal (R13) or age
//
// Both are kept by the SHA-256 of their current secret alone (R18): a consumed refresh token does not match any more, so
// it needs no list of its own (R11). The braces are a Redis Cluster hash tag: both keys share a slot on purpose, so that
// a change of the two is one script. How the one becomes the other is in consumption-store.ts.
import { formatScope, parseScope, type Scope } from '../clients/scope.ts';
import type { ClientId, ConsentId, FamilyId, SecretHash, Sub } from '../ids.ts';
import type { RedisStore } from '../redis/connect.ts';
import { runReplicated, runScript, script } from '../redis/script.ts';
import type { PresentedToken } from '../secrets.ts';
import type { ChallengeMethod, PkceChallenge } from './pkce.ts';

/** Seconds (specification §3). */
const codeLifetime = 300;

/** What code and refresh family have in common. */
export interface GrantRecord {
  readonly familyId: FamilyId;
  /** Of the secret of the code, or of the family's current token. */
  readonly hash: SecretHash;
  readonly clientId: ClientId;
  readonly sub: Sub;
  readonly consentId: ConsentId;
  /** As granted; a refresh narrows its access token only (R12). */
  readonly scopes: readonly Scope[];
  /** Milliseconds since the epoch: the login that the grant rests on. A later sign-out leaves it dead (R13). */
  readonly loggedInAt: number;
}

export interface AuthorizationCode extends GrantRecord {
  readonly redirectUri: string;
  /** Empty when none was sent. */
  readonly nonce: string;
  readonly pkce: PkceChallenge | undefined;
  /** Seconds since the epoch; only where the ID token shall carry it (R5). */
  readonly authTime: number | undefined;
  /** It was exchanged: presented once more, it is a replay (R10). */
  readonly used?: boolean;
}

export interface RefreshFamily extends GrantRecord {
  /** Milliseconds since the epoch: when the current token was issued. */
  readonly issuedAt: number;
}

/** A record as it was read. */
export type Read<Record extends GrantRecord> = Record & {
  /** Milliseconds since the epoch, by our clock; too late by what the read took at most, however Redis's clock goes. */
  readonly expiresAt: number;
};

/** Codes of one user, the latest, that are kept until they are exchanged; the next one ends the oldest. */
const mostCodesOfUser = 1_000;

// A score is later than those before it, so that the newest code is never the one to go.
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
 * Counts a code that is about to be created for its user, and ends the oldest ones that nobody has exchanged: a signed-in
 * browser gets one without a page. Each step is atomic; a crash between them leaves a code that expires by itself. `now`:
 * milliseconds since the epoch.
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

// Atomic: nothing comes between check and write, so a family never gets a second code. The family's key is checked
// too: it outlives what is remembered of a used code.
const create = script(`
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1`);

/**
 * Keeps `code` unless its family has a code or has had one: repeating the call after a lost answer or a
 * crash makes no second code (R6). True when this call created it. Atomic.
 */
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

/** The code of a family, also a used one; undefined when it has expired, was revoked or never was. */
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

/** The family; undefined when it was revoked, has expired or never was. */
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

/** Field names and values in one flat list, as HSET takes them; `own`: those that only this kind of record has. */
export function fieldsOf(
  record: GrantRecord,
  own: Readonly<Record<string, string | number>>,
): (string | number)[] {
  const { hash, clientId: client, sub, consentId: consent, scopes, loggedInAt: logged_in_at } = record;
  const fields = { hash, client, sub, consent, scope: formatScope(scopes), logged_in_at, ...own };
  return Object.entries(fields).flat();
}

/** The parsing edge of both keys: only `fieldsOf` writes them. Undefined when there is no record. */
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

// Atomic. What is left of a deleted grant is a mark that outlives the 10 s in which a browser may repeat its decision, so
// that the repetition does not create the code again (R6).
const remove = script(`
if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] and redis.call('HGET', KEYS[2], 'hash') ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'used', 1)
redis.call('EXPIRE', KEYS[1], 60)
return 1`);

/** Deletes the code or the family whose current secret was presented (R13). Others stay. Atomic. */
export async function deleteGrant(store: RedisStore, { familyId, hash }: PresentedToken): Promise<void> {
  await runReplicated(store, 'delete grant', remove, grantKeys(familyId), [hash]);
}
