// Families that refresh all the time through the functions of identity's store, and what came of every token: for
// tests that take a store away meanwhile.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '@course-exchange/runtime/process/errors';
import type { ClientId, ConsentId, FamilyId, SecretHash, Sub } from '../../services/identity/src/ids.ts';
import type { RedisStore } from '../../services/identity/src/redis/connect.ts';
import { createReplicas } from '../../services/identity/src/redis/replicas.ts';
import { exchangeCode, rotateRefreshToken } from '../../services/identity/src/token/consumption-store.ts';
import { createAuthorizationCode, readRefreshFamily } from '../../services/identity/src/token/grant-store.ts';

/** A refresh family as its client knows it. */
export interface ClientFamily {
  readonly familyId: FamilyId;
  /** The token that was acknowledged last. */
  current: SecretHash;
  /** Tokens that gave way to an acknowledged successor. */
  readonly consumed: SecretHash[];
  /** An answer was 503: whether `current` was consumed is not known, and the client begins anew. */
  unknown: boolean;
}

const inAnHour = () => Date.now() + 3_600_000;
const word = () => randomBytes(32).toString('base64url') as SecretHash;

/** A code is issued and exchanged, as after a login. */
export async function beginFamily(store: RedisStore): Promise<ClientFamily> {
  const familyId = randomBytes(16).toString('base64url') as FamilyId;
  const grant = {
    familyId,
    clientId: 'partner' as ClientId,
    sub: 'ada' as Sub,
    consentId: 'consent' as ConsentId,
    scopes: ['openid'] as const,
    loggedInAt: Date.now(),
  };
  const [code, first] = [word(), word()];
  const redirectUri = 'https://partner.example/callback';
  const rest = { redirectUri, nonce: '', pkce: undefined, authTime: undefined };
  const issued = { ...grant, ...rest, hash: code };
  await createAuthorizationCode(store, issued);
  const read = { ...issued, expiresAt: Date.now() };
  await exchangeCode(store, read, { hash: first, issuedAt: Date.now() }, inAnHour());
  return { familyId, current: first, consumed: [], unknown: false };
}

/** Presents `token` as the token endpoint does; true when it was accepted. */
async function present(
  store: RedisStore,
  { familyId }: ClientFamily,
  token: SecretHash,
  next: SecretHash,
): Promise<boolean> {
  const found = await readRefreshFamily(store, familyId, Date.now);
  if (found?.hash !== token) return false;
  return rotateRefreshToken(store, found, { hash: next, issuedAt: Date.now() }, inAnHour());
}

/** The same, asked again where the store does not answer: it may be looking for its master. */
async function isAccepted(store: RedisStore, client: ClientFamily, token: SecretHash): Promise<boolean> {
  const next = word();
  for (let attempt = 0; ; attempt += 1)
    try {
      if ((await readRefreshFamily(store, client.familyId, Date.now))?.hash === next) return true;
      return await present(store, client, token, next);
    } catch (error) {
      if (!(error instanceof Failure) || attempt === 100) throw error;
      await sleep(100);
    }
}

/** One refresh; false when the store did not answer. A refused current token is thrown: it was lost. */
export async function refresh(store: RedisStore, client: ClientFamily): Promise<boolean> {
  const next = word();
  try {
    if (!(await present(store, client, client.current, next)))
      throw new Error('an acknowledged token was lost');
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    client.unknown = true;
    return false;
  }
  client.consumed.push(client.current);
  client.current = next;
  return true;
}

/** `clients` that refresh every `everyMs` milliseconds, and begin anew where an answer was 503. */
export function startRefreshLoad(store: RedisStore, clients: number, everyMs: number) {
  const families: ClientFamily[] = [];
  const counts = { refreshed: 0, unavailable: 0 };
  let stopped = false;
  const live = async () => {
    let client: ClientFamily | undefined;
    for (; !stopped; await sleep(everyMs)) {
      client ??= await beginFamily(store).catch(() => undefined);
      if (client === undefined) counts.unavailable += 1;
      else if (await refresh(store, client)) counts.refreshed += 1;
      else counts.unavailable += 1;
      if (client && !families.includes(client)) families.push(client);
      if (client?.unknown) client = undefined;
    }
  };
  const all = Promise.allSettled(Array.from({ length: clients }, live));
  return {
    families,
    /** Refreshes that were answered, and answers 503, until now. */
    counts,
    /** Ends the load; throws what a client threw. */
    stop: async () => {
      stopped = true;
      for (const ended of await all) if (ended.status === 'rejected') throw ended.reason;
    },
  };
}

/**
 * Presents every token of the load again: all consumed ones, then each that must still be good. Wanted are 0 that were
 * accepted twice and 0 lost. No replica is waited for.
 */
export async function judge(connected: RedisStore, families: readonly ClientFamily[]) {
  const store = { ...connected, replicas: createReplicas(0) };
  let [acceptedTwice, lost, consumed, current] = [0, 0, 0, 0];
  for (const client of families) {
    for (const token of client.consumed) {
      consumed += 1;
      if (await isAccepted(store, client, token)) acceptedTwice += 1;
    }
    if (client.unknown) continue;
    current += 1;
    if (!(await isAccepted(store, client, client.current))) lost += 1;
  }
  return { acceptedTwice, lost, consumed, current };
}
