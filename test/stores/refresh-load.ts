// Families that refresh all the time through the functions of identity's store, and what came of every token: for
// tests that take a store away meanwhile.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '@course-exchange/runtime/failure';
import type {
  ClientId,
  ConsentId,
  FamilyId,
  SecretHash,
  Sub,
} from '../../services/identity/src/domain/ids.ts';
import { createAuthorizationCode } from '../../services/identity/src/store/redis/authorization-codes.ts';
import { exchangeCode } from '../../services/identity/src/store/redis/code-exchange.ts';
import {
  readRefreshFamily,
  rotateRefreshToken,
} from '../../services/identity/src/store/redis/refresh-families.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';

/** A refresh family as its client knows it. */
export interface ClientFamily {
  readonly family: FamilyId;
  /** The token that was acknowledged last. */
  current: SecretHash;
  /** Tokens that gave way to an acknowledged successor. */
  readonly consumed: SecretHash[];
  /** An answer was 503: whether `current` was consumed is not known, and the client begins anew. */
  unknown: boolean;
}

const word = () => randomBytes(32).toString('base64url') as SecretHash;

/** A code is issued and exchanged, as after a login. */
export async function beginFamily(store: ReplicatedStore): Promise<ClientFamily> {
  const family = randomBytes(16).toString('base64url') as FamilyId;
  const grant = {
    family,
    clientId: 'partner' as ClientId,
    sub: 'ada' as Sub,
    consentId: 'consent' as ConsentId,
    scopes: ['openid'] as const,
    loggedInAt: Date.now(),
  };
  const [code, first] = [word(), word()];
  const redirectUri = 'https://partner.example/callback';
  const rest = { redirectUri, nonce: '', pkce: undefined, authTime: undefined };
  await createAuthorizationCode(store, { ...grant, ...rest, hash: code });
  await exchangeCode(store, { ...grant, hash: first, codeHash: code, issuedAt: Date.now() });
  return { family, current: first, consumed: [], unknown: false };
}

/** Presents `token` as the token endpoint does; true when it was accepted. */
async function present(
  store: ReplicatedStore,
  { family }: ClientFamily,
  token: SecretHash,
  next: SecretHash = word(),
): Promise<boolean> {
  const found = await readRefreshFamily(store, family);
  if (found?.hash !== token) return false;
  return rotateRefreshToken(store, { family, hash: token }, { hash: next, issuedAt: Date.now() });
}

/** One refresh; false when the store did not answer. A refused current token is thrown: it was lost. */
export async function refresh(store: ReplicatedStore, client: ClientFamily): Promise<boolean> {
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

export interface RefreshLoad {
  readonly families: ClientFamily[];
  /** Refreshes that were answered, and answers 503, until now. */
  readonly counts: { refreshed: number; unavailable: number };
  /** Ends the load; throws what a client threw. */
  readonly stop: () => Promise<void>;
}

/** `clients` that refresh every `everyMs` milliseconds, and begin anew where an answer was 503. */
export function startRefreshLoad(store: ReplicatedStore, clients: number, everyMs: number): RefreshLoad {
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
    counts,
    stop: async () => {
      stopped = true;
      for (const ended of await all) if (ended.status === 'rejected') throw ended.reason;
    },
  };
}

export interface Verdict {
  /** Tokens with an acknowledged successor that were accepted again. Wanted: 0. */
  readonly acceptedTwice: number;
  /** Tokens acknowledged last, and never answered 503, that were refused. Wanted: 0. */
  readonly lost: number;
  readonly consumed: number;
  readonly current: number;
}

/** Presents every token of the load again: all consumed ones, then each that must still be good. */
export async function judge(store: ReplicatedStore, families: readonly ClientFamily[]): Promise<Verdict> {
  let [acceptedTwice, lost, consumed, current] = [0, 0, 0, 0];
  for (const client of families) {
    for (const token of client.consumed) {
      consumed += 1;
      if (await present(store, client, token)) acceptedTwice += 1;
    }
    if (client.unknown) continue;
    current += 1;
    if (!(await present(store, client, client.current))) lost += 1;
  }
  return { acceptedTwice, lost, consumed, current };
}
