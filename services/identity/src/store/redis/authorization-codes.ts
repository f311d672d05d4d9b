// Keys `code:{family}`: authorization codes, 5 minutes, single use (specification §3). The braces are a
// Redis Cluster hash tag: a code and the refresh family that descends from it share a slot on purpose, so
// that the exchange is one script over two keys (store/redis/code-exchange.ts).
import type { ClientId, ConsentId, FamilyId, SecretHash, Sub } from '../../domain/ids.ts';
import type { ChallengeMethod, PkceChallenge } from '../../domain/pkce.ts';
import { formatScope, parseScope, type Scope } from '../../domain/scope.ts';
import { confirmReplicas, type ReplicatedStore } from './replication.ts';
import { runScript, script } from './script.ts';

/** Seconds (specification §3). */
const codeLifetime = 300;

/** An authorization code `<family><secret>` as it is kept: of the secret only its hash (R18). */
export interface AuthorizationCode {
  readonly family: FamilyId;
  readonly hash: SecretHash;
  readonly clientId: ClientId;
  readonly redirectUri: string;
  readonly sub: Sub;
  readonly consentId: ConsentId;
  readonly scopes: readonly Scope[];
  /** Empty when none was sent. */
  readonly nonce: string;
  readonly pkce: PkceChallenge | undefined;
  /** Seconds since the epoch; only where the ID token shall carry it (R5). */
  readonly authTime: number | undefined;
  /** Milliseconds since the epoch: the login that the code rests on. A later sign-out leaves it dead (R13). */
  readonly loggedInAt: number;
}

export function codeKey(family: FamilyId): string {
  return `code:{${family}}`;
}

// Atomic: nothing can come between the look and the write, so a family never gets a second code. The key of
// the refresh family is looked at too: a code that was exchanged is gone, its family is not.
const create = script(`
if redis.call('EXISTS', KEYS[1], KEYS[2]) > 0 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1`);

/**
 * Keeps `code` unless its family has a code or has had one: repeating the call after a lost answer or a
 * crash makes no second code (R6). True when this call created it. Atomic.
 */
export async function createAuthorizationCode(
  store: ReplicatedStore,
  code: AuthorizationCode,
): Promise<boolean> {
  const keys = [codeKey(code.family), `rt:{${code.family}}`];
  return store.run('create authorization code', codeKey(code.family), async (redis) => {
    const created = await runScript(redis, create, keys, [codeLifetime, ...fieldsOf(code)]);
    await confirmReplicas(redis, store.minReplicas);
    return created === 1;
  });
}

function fieldsOf(code: AuthorizationCode): string[] {
  const fields = {
    hash: code.hash,
    client: code.clientId,
    redirect_uri: code.redirectUri,
    sub: code.sub,
    consent: code.consentId,
    scope: formatScope(code.scopes),
    nonce: code.nonce,
    challenge: code.pkce?.challenge ?? '',
    method: code.pkce?.method ?? '',
    auth_time: code.authTime === undefined ? '' : String(code.authTime),
    logged_in_at: String(code.loggedInAt),
  };
  return Object.entries(fields).flat();
}

/** The code of `family`; undefined when it was consumed, has expired or never was. */
export async function readAuthorizationCode(
  store: ReplicatedStore,
  family: FamilyId,
): Promise<AuthorizationCode | undefined> {
  const key = codeKey(family);
  const fields = await store.run('read authorization code', key, (redis) => redis.hgetall(key));
  return fields.hash ? toCode(family, fields) : undefined;
}

// The parsing edge of this key: only `fieldsOf` writes it.
function toCode(family: FamilyId, fields: Record<string, string>): AuthorizationCode {
  const {
    hash,
    client,
    redirect_uri,
    sub,
    consent,
    scope,
    nonce,
    challenge,
    method,
    auth_time,
    logged_in_at,
  } = fields;
  return {
    family,
    hash: hash as SecretHash,
    clientId: client as ClientId,
    redirectUri: redirect_uri ?? '',
    sub: sub as Sub,
    consentId: consent as ConsentId,
    scopes: parseScope(scope ?? '') ?? [],
    nonce: nonce ?? '',
    pkce: challenge ? { challenge, method: method as ChallengeMethod } : undefined,
    authTime: auth_time ? Number(auth_time) : undefined,
    loggedInAt: Number(logged_in_at),
  };
}
