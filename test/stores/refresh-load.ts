// Families that refresh all the time through the functions of identity's store, and what came of every token: for
// tests that take a store away meanwhile.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '@course-exchange/runtime/process/errors';
import type { ClientId, ConsentId, FamilyId, SecretHash, Sub } from '../../services/identity/src/ids.ts';
import type { RedisStore } from '../../services/identity/src/redis/connect.ts';
import { createReplicas } from '../../services/identity/src/redis/replicas.ts';
import * as grants from '../../services/identity/src/token/grant-store.ts';

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
const nextToken = (hash: SecretHash) => ({ hash, issuedAt: Date.now(), requestId: 'a request' });

/** A code is issued and exchanged, as after a login. */
export async function beginFamily(store: RedisStore): Promise<ClientFamily> {
  const familyId = randomBytes(16).toString('base64url') as FamilyId;
  const [hash, current] = [word(), word()];
  const code = {
    ...{ familyId, hash, clientId: 'partner' as ClientId, sub: 'ada' as Sub },
    ...{ consentId: 'consent' as ConsentId, scopes: ['openid'] as const, loggedInAt: Date.now() },
    ...{ redirectUri: 'https://partner.example/callback', nonce: '', pkce: undefined, authTime: undefined },
  };
  await grants.createAuthorizationCode(store, code);
  const read = { keptUntil: Date.now(), memoryMs: 0, expired: false };
  await grants.exchangeCode(store, { ...code, ...read }, nextToken(current), inAnHour());
  return { familyId, current, consumed: [], unknown: false };
}

/** Undefined when it was revoked, too. */
export async function findFamily(store: RedisStore, familyId: FamilyId) {
  const found = await grants.readRefreshFamily(store, familyId, Date.now);
  return found && 'hash' in found ? found : undefined;
}

/** Presents `token` as the token endpoint does; true when it was accepted, now or by a try whose answer was lost. */
async function present(store: RedisStore, familyId: FamilyId, token: SecretHash, next: SecretHash) {
  const found = await findFamily(store, familyId);
  if (found?.hash !== token) return found?.hash === next;
  return (await grants.rotateRefreshToken(store, found, nextToken(next), inAnHour())) === 'rotated';
}

/** One refresh; false when the store did not answer. A refused current token is thrown: it was lost. */
export async function refresh(store: RedisStore, client: ClientFamily): Promise<boolean> {
  const next = word();
  const isAccepted = await present(store, client.familyId, client.current, next).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
  });
  if (isAccepted === false) throw new Error('an acknowledged token was lost');
  client.unknown = isAccepted === undefined;
  if (client.unknown) return false;
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
      if (client === undefined || client.unknown) {
        client = await beginFamily(store).catch(() => undefined);
        if (client) families.push(client);
      }
      if (client && (await refresh(store, client))) counts.refreshed += 1;
      else counts.unavailable += 1;
    }
  };
  const all = Promise.all(Array.from({ length: clients }, live));
  // `stop` throws it.
  all.catch(() => {});
  return {
    families,
    counts,
    /** Ends the load; rejects with what a client threw. */
    stop: () => {
      stopped = true;
      return all;
    },
  };
}

/**
 * Presents every token of the load again: all consumed ones, then each that must still be good. Wanted are 0 that were
 * accepted twice and 0 lost. No replica is waited for, and a store that is looking for its master is asked again.
 */
export async function judge(connected: RedisStore, families: readonly ClientFamily[]) {
  const store = { ...connected, replicas: createReplicas(0) };
  const isAccepted = async ({ familyId }: ClientFamily, token: SecretHash) => {
    const next = word();
    for (let attempt = 0; ; attempt += 1)
      try {
        return await present(store, familyId, token, next);
      } catch (error) {
        if (!(error instanceof Failure) || attempt === 600) throw error;
        await sleep(100);
      }
  };
  const verdict = { acceptedTwice: 0, lost: 0, current: 0 };
  for (const client of families) {
    for (const token of client.consumed) verdict.acceptedTwice += Number(await isAccepted(client, token));
    if (client.unknown) continue;
    verdict.current += 1;
    verdict.lost += Number(!(await isAccepted(client, client.current)));
  }
  return verdict;
}
