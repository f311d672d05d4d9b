// Identity's public keys, kept for as long as they may be (R17), used beyond it while identity is away.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { unavailable } from '@course-exchange/runtime/failure';
import type { TokenAlgorithm } from '../domain/access-token.ts';

/** A public key in the terms of RFC 7517; members that do not apply are empty. */
export interface PublishedKey {
  readonly kid: string;
  readonly alg: string;
  readonly kty: string;
  readonly n: string;
  readonly e: string;
  readonly crv: string;
  readonly x: string;
  readonly y: string;
}

export interface KeySet {
  /**
   * The key named `kid`; undefined when there is none. Fetches first when the set is old or the key unknown.
   * Throws `temporarily_unavailable` while no set was ever fetched.
   */
  readonly find: (kid: string) => Promise<KeyObject | undefined>;
  /** Whether `key` is in the set as it is known now. Never fetches. */
  readonly holds: (kid: string, key: KeyObject) => boolean;
  /** Fetches when the set is older than `age` milliseconds; a failed fetch keeps what there is. */
  readonly refreshOlderThan: (age: number) => Promise<void>;
  /** One sentence while no set was ever fetched. */
  readonly problem: () => string | undefined;
}

export interface KeySetOptions {
  readonly fetchKeys: () => Promise<readonly PublishedKey[]>;
  /** Keys of another algorithm are left out. */
  readonly algorithm: TokenAlgorithm;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Milliseconds a set is used without asking; the same as its Cache-Control in public. */
const lifetime = 300_000;
/** Milliseconds between fetches, whatever the tokens name: forged ones must not make us flood identity. */
const fetchInterval = 1_000;

interface KnownKey {
  readonly written: string;
  readonly key: KeyObject;
}
type KnownKeys = ReadonlyMap<string, KnownKey>;

export function createKeySet({ fetchKeys, algorithm, now }: KeySetOptions): KeySet {
  let known: KnownKeys = new Map();
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let flight: Promise<void> | undefined;

  async function fetchOnce(): Promise<void> {
    triedAt = now();
    try {
      const keys = readKeys(await fetchKeys(), algorithm, known);
      // An answer without keys is an installation that has none yet, or a mistake: no reason to forget.
      if (keys.size === 0) return;
      known = keys;
      fetchedAt = now();
    } catch {
      // `problem` tells while there is no set; otherwise the one before serves on.
    } finally {
      flight = undefined;
    }
  }

  function refresh(): Promise<void> {
    if (flight === undefined && now() - triedAt < fetchInterval) return Promise.resolve();
    flight ??= fetchOnce();
    return flight;
  }

  return {
    find: async (kid) => {
      if (!known.has(kid) || now() - fetchedAt >= lifetime) await refresh();
      if (known.size === 0) throw unavailable('the key set');
      return known.get(kid)?.key;
    },
    holds: (kid, key) => known.get(kid)?.key === key,
    refreshOlderThan: (age) => (now() - fetchedAt >= age ? refresh() : Promise.resolve()),
    problem: () => (known.size === 0 ? 'The key set was not yet fetched from identity' : undefined),
  };
}

/** Keys of `algorithm`; one that did not change stays the same object. */
function readKeys(
  published: readonly PublishedKey[],
  algorithm: TokenAlgorithm,
  before: KnownKeys,
): KnownKeys {
  const fitting = published.filter(({ kid, alg }) => alg === algorithm && kid !== '');
  return new Map(
    fitting.map((key) => {
      const written = JSON.stringify(jwkOf(key));
      const same = before.get(key.kid);
      return [key.kid, same?.written === written ? same : { written, key: openKey(key) }];
    }),
  );
}

function openKey(key: PublishedKey): KeyObject {
  return createPublicKey({ key: jwkOf(key), format: 'jwk' });
}

function jwkOf({ alg, n, e, x, y }: PublishedKey): Record<string, string> {
  return alg === 'ES256' ? { kty: 'EC', crv: 'P-256', x, y } : { kty: 'RSA', n, e };
}
