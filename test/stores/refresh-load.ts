// Families that refresh all the time through the functions of identity's store, and what came of every token: for
// tests that take a store away meanwhile.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '@course-exchange/runtime/process/errors';
import type { ClientId, ConsentId, FamilyId, SecretHash, Sub } from '../../services/identity/src/ids.ts';
import type { RedisStore } from '../../services/identity/src/redis/connect.ts';
import * as grants from '../../services/identity/src/token/grant-store.ts';
import { until } from './redis-servers.ts';

export interface ClientFamily {
  readonly familyId: FamilyId;
  /** The token that was acknowledged last. */
  current: SecretHash;
  /** Tokens that gave way to an acknowledged successor. */
  readonly consumed: SecretHash[];
  /** An answer was 503: whether `current` was consumed is not known, and the client starts again. */
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
  const read = { kind: 'grant', keptUntil: Date.now(), memoryMs: 0, expired: false } as const;
  await grants.exchangeCode(store, { ...code, ...read }, nextToken(current), inAnHour());
  return { familyId, current, consumed: [], unknown: false };
}

/** Undefined when it was revoked, too. */
export async function findFamily(store: RedisStore, familyId: FamilyId) {
  const found = await grants.readRefreshFamily(store, familyId, Date.now);
  return found?.kind === 'grant' ? found : undefined;
}

/** As the token endpoint does; true when the current token was accepted. */
async function rotate(store: RedisStore, { familyId, current }: ClientFamily, next: SecretHash) {
  const found = await findFamily(store, familyId);
  if (found?.hash !== current) return false;
  return (await grants.rotateRefreshToken(store, found, nextToken(next), inAnHour())) === 'rotated';
}

/** One refresh; false when the store did not answer. A refused current token is thrown: it was lost. */
export async function refresh(store: RedisStore, client: ClientFamily): Promise<boolean> {
  const next = word();
  const isAccepted = await rotate(store, client, next).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
  });
  if (isAccepted === false) throw new Error('an acknowledged token was lost');
  client.unknown = isAccepted === undefined;
  if (client.unknown) return false;
  client.consumed.push(client.current);
  client.current = next;
  return true;
}

/** `clients` that refresh every `everyMs` milliseconds, and start again after a 503. */
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

/** Reads the current token of each family, and counts spent ones that are current again and acknowledged ones that are not. */
export async function judge(store: RedisStore, families: readonly ClientFamily[]) {
  const verdict = { acceptedTwice: 0, lost: 0, current: 0 };
  for (const { familyId, current, consumed, unknown } of families) {
    let hash: SecretHash | undefined;
    // A store that is looking for its master is asked again.
    await until('an answer', async () => {
      hash = (await findFamily(store, familyId))?.hash;
      return true;
    });
    if (hash !== undefined && consumed.includes(hash)) verdict.acceptedTwice += 1;
    if (unknown) continue;
    verdict.current += 1;
    if (hash !== current) verdict.lost += 1;
  }
  return verdict;
}
