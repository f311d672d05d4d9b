// Identity's public keys, cached as long as they may be (R17.4), and longer while identity is down.
import { setTimeout as sleep } from 'node:timers/promises';
import { keySetLifetime } from '@course-exchange/rules/access-token';
import { inMilliseconds } from '@course-exchange/rules/brand';
import { unavailable } from '@course-exchange/runtime/process/errors';
import { type CryptoKey, importJWK, type JSONWebKeySet } from 'jose';
import { catalogMetrics } from '../metrics.ts';

/** Configured, never the token's choice. */
export type TokenAlgorithm = 'ES256' | 'RS256';
export const tokenAlgorithms: readonly TokenAlgorithm[] = ['ES256', 'RS256'];

export type KeySet = ReturnType<typeof createKeySet>;

export interface KeySetOptions {
  /** A JWKS (RFC 7517 §5). */
  readonly fetchJwks: () => Promise<string>;
  readonly algorithm: TokenAlgorithm;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Milliseconds between fetches: forged tokens must not make us flood identity. */
const fetchInterval = 1_000;
/** A set is used this long without a newer one (ms). */
const longestUse = 3_600_000;

interface KnownKey {
  readonly written: string;
  readonly key: CryptoKey;
}
type KnownKeys = ReadonlyMap<string, KnownKey>;

export function createKeySet({ fetchJwks, algorithm, now }: KeySetOptions) {
  let known: KnownKeys = new Map();
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let flight: Promise<void> | undefined;

  async function fetchOnce(): Promise<void> {
    triedAt = now();
    try {
      const keys = await readKeys(await fetchJwks(), algorithm, known);
      // An answer without keys is a new installation or a mistake.
      if (keys.size === 0) return;
      known = keys;
      fetchedAt = now();
    } catch {
    } finally {
      flight = undefined;
    }
  }

  function refresh(): Promise<void> {
    if (flight === undefined && now() - triedAt < fetchInterval) return Promise.resolve();
    flight ??= fetchOnce();
    return flight;
  }

  catalogMetrics.verificationKeys.observe(() => [...known.keys()].map((kid) => [1, { kid }]));

  return {
    /**
     * Fetches first when the set is old or the key unknown. Throws `temporarily_unavailable` if no set was fetched in
     * the past hour, so that a withdrawn key does not live on.
     */
    find: async (kid: string): Promise<CryptoKey | undefined> => {
      if (!known.has(kid) || now() - fetchedAt >= inMilliseconds(keySetLifetime)) await refresh();
      if (now() - fetchedAt >= longestUse) throw unavailable('the key set');
      return known.get(kid)?.key;
    },
    holds: (kid: string, key: CryptoKey) => known.get(kid)?.key === key && now() - fetchedAt < longestUse,
    /** In milliseconds; a failed fetch keeps the current set. */
    refreshOlderThan: (age: number) => (now() - fetchedAt >= age ? refresh() : Promise.resolve()),
    problem: () => (known.size === 0 ? 'The key set was not yet fetched from identity' : undefined),
  };
}

async function readKeys(jwks: string, algorithm: TokenAlgorithm, before: KnownKeys): Promise<KnownKeys> {
  const keys = new Map<string, KnownKey>();
  for (const jwk of (JSON.parse(jwks) as JSONWebKeySet).keys) {
    const { kid, alg } = jwk;
    if (alg !== algorithm || typeof kid !== 'string' || kid === '') continue;
    const written = JSON.stringify(jwk);
    const same = before.get(kid);
    const key = same?.written === written ? same.key : ((await importJWK(jwk, alg)) as CryptoKey);
    keys.set(kid, { written, key });
  }
  return keys;
}

/** Milliseconds: how often the age is checked, and when the set is fetched. */
const checkInterval = 1_000;
const oldest = 30_000;

/** Until `signal` aborts: no call waits for identity. */
export async function keepKeysFresh(keySet: KeySet, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await keySet.refreshOlderThan(oldest);
    await sleep(checkInterval, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
