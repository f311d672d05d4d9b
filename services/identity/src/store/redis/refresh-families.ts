// Keys `rt:{family}`: one key per refresh family, 30 days rolling (specification §3). It holds the hash of
// the current token alone: a consumed token does not match any more, so it needs no list of its own (R11).
import type { ClientId, ConsentId, FamilyId, SecretHash, Sub } from '../../domain/ids.ts';
import { formatScope, parseScope, type Scope } from '../../domain/scope.ts';
import type { PresentedToken } from '../../domain/token-string.ts';
import { codeKey } from './authorization-codes.ts';
import { confirmReplicas, type ReplicatedStore } from './replication.ts';
import { runScript, script } from './script.ts';

/** Seconds: 30 days, from each rotation (specification §3). */
export const refreshLifetime = 30 * 24 * 60 * 60;

export interface RefreshFamily {
  readonly family: FamilyId;
  /** Of the current token's secret. */
  readonly hash: SecretHash;
  /** Of the code that the family descends from; knows its replay (R10). */
  readonly codeHash: SecretHash;
  readonly clientId: ClientId;
  readonly sub: Sub;
  readonly consentId: ConsentId;
  /** As granted; a refresh narrows its access token only (R12). */
  readonly scopes: readonly Scope[];
  /** Milliseconds since the epoch: the login that the grant rests on (R13). */
  readonly loggedInAt: number;
  /** Milliseconds since the epoch: when the current token was issued. */
  readonly issuedAt: number;
}

export function familyKey(family: FamilyId): string {
  return `rt:{${family}}`;
}

/** The family, undefined when it was revoked, has expired or never was. */
export async function readRefreshFamily(
  store: ReplicatedStore,
  family: FamilyId,
): Promise<RefreshFamily | undefined> {
  const key = familyKey(family);
  const fields = await store.run('read refresh family', key, (redis) => redis.hgetall(key));
  return fields.hash ? toFamily(family, fields) : undefined;
}

// Atomic compare-and-set: of N concurrent rotations the first changes the hash, the others no longer match.
const rotate = script(`
if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'hash', ARGV[2], 'issued_at', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1`);

/**
 * Consumes the presented token and puts the token with hash `next` in its place, for another 30 days. False
 * when the presented one is not current (any more); then nothing has changed. Atomic.
 */
export async function rotateRefreshToken(
  store: ReplicatedStore,
  presented: PresentedToken,
  next: { readonly hash: SecretHash; readonly issuedAt: number },
): Promise<boolean> {
  const key = familyKey(presented.family);
  return store.run('rotate refresh token', key, async (redis) => {
    const values = [presented.hash, next.hash, next.issuedAt, refreshLifetime];
    const rotated = await runScript(redis, rotate, [key], values);
    if (rotated === 1) await confirmReplicas(redis, store.minReplicas);
    return rotated === 1;
  });
}

// Atomic. What stays of a deleted code or family is a mark that outlives the 10 s in which a browser may
// repeat its decision, so that the repetition does not create the code again (R6).
const remove = script(`
if redis.call('HGET', KEYS[1], 'hash') ~= ARGV[1] and redis.call('HGET', KEYS[2], 'hash') ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'spent', 1)
redis.call('EXPIRE', KEYS[1], 60)
return 1`);

/** Deletes the code or the family whose current secret was presented (R13). Others stay. Atomic. */
export async function deleteGrant(store: ReplicatedStore, presented: PresentedToken): Promise<void> {
  const keys = [codeKey(presented.family), familyKey(presented.family)];
  await store.run('delete grant', codeKey(presented.family), async (redis) => {
    await runScript(redis, remove, keys, [presented.hash]);
    await confirmReplicas(redis, store.minReplicas);
  });
}

/** Field names and values of `rt:{family}` in one flat list, as HSET takes them. */
export function familyFields(family: RefreshFamily): string[] {
  const fields = {
    hash: family.hash,
    code_hash: family.codeHash,
    client: family.clientId,
    sub: family.sub,
    consent: family.consentId,
    scope: formatScope(family.scopes),
    logged_in_at: String(family.loggedInAt),
    issued_at: String(family.issuedAt),
  };
  return Object.entries(fields).flat();
}

// The parsing edge of this key: only `familyFields` writes it.
function toFamily(family: FamilyId, fields: Record<string, string>): RefreshFamily {
  const { hash, code_hash, client, sub, consent, scope, logged_in_at, issued_at } = fields;
  return {
    family,
    hash: hash as SecretHash,
    codeHash: code_hash as SecretHash,
    clientId: client as ClientId,
    sub: sub as Sub,
    consentId: consent as ConsentId,
    scopes: parseScope(scope ?? '') ?? [],
    loggedInAt: Number(logged_in_at),
    issuedAt: Number(issued_at),
  };
}
