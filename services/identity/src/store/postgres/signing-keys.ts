// Table `signing_keys`: staged (published, does not sign yet) → active (signs) → retired (published until
// its last token has expired). Private keys are sealed; this file never opens them (R17, R18).
import type { Database, Queries } from '@course-exchange/runtime/postgres';
import { keySetLifetime, retiredKeyLifetime, type SigningAlgorithm } from '../../domain/signing-algorithm.ts';

export interface NewSigningKey {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly publicJwk: Readonly<Record<string, unknown>>;
  readonly sealedPrivateKey: Buffer;
}

export interface StoredSigningKey extends NewSigningKey {
  readonly state: 'staged' | 'active' | 'retired';
}

const published = {
  name: 'published signing keys',
  text: `select kid, algorithm, public_jwk as "publicJwk", private_key as "sealedPrivateKey", state
    from signing_keys
    where removed_at is null and (state <> 'retired' or retired_at > now() - make_interval(secs => $1))
    order by published_at, kid`,
};

/** Every key that the key set shows now, oldest first. */
export async function listPublishedKeys(database: Queries): Promise<readonly StoredSigningKey[]> {
  return database.query<StoredSigningKey>(published, [retiredKeyLifetime]);
}

const inUse = {
  name: 'signing keys in use',
  text: `select kid, private_key as "sealedPrivateKey" from signing_keys where state <> 'retired' order by published_at, kid`,
};

/** Keys whose private half is needed, now or soon. Reads what every version of the schema has. */
export async function listKeysInUse(
  database: Queries,
): Promise<readonly Pick<StoredSigningKey, 'kid' | 'sealedPrivateKey'>[]> {
  return database.query(inUse, []);
}

// `where not exists` and the unique index signing_keys_active let concurrent first migrations make one key.
const insertFirst = {
  name: 'insert first signing key',
  text: `insert into signing_keys (kid, algorithm, public_jwk, private_key, state, activated_at)
    select $1, $2, $3, $4, 'active', now()
    where not exists (select from signing_keys where algorithm = $2)
    on conflict do nothing returning kid`,
};

/** Makes `key` sign at once, if its algorithm has no key at all yet (R17). True when it was taken. Atomic. */
export async function insertFirstKey(database: Queries, key: NewSigningKey): Promise<boolean> {
  const rows = await database.query(insertFirst, valuesOf(key));
  return rows.length > 0;
}

const insertStaged = {
  name: 'stage signing key',
  text: 'insert into signing_keys (kid, algorithm, public_jwk, private_key) values ($1, $2, $3, $4)',
};

/** Publishes `key`; it does not sign before `activateKey`. */
export async function stageKey(database: Queries, key: NewSigningKey): Promise<void> {
  await database.query(insertStaged, valuesOf(key));
}

function valuesOf({ kid, algorithm, publicJwk, sealedPrivateKey }: NewSigningKey): unknown[] {
  return [kid, algorithm, JSON.stringify(publicJwk), sealedPrivateKey];
}

const retireActive = {
  name: 'retire active signing key',
  text: `update signing_keys set state = 'retired', retired_at = now()
    where state = 'active' and algorithm = (
      select algorithm from signing_keys
      where kid = $1 and state = 'staged' and published_at <= now() - make_interval(secs => $2))`,
};

const activateStaged = {
  name: 'activate signing key',
  text: `update signing_keys set state = 'active', activated_at = now()
    where kid = $1 and state = 'staged' and published_at <= now() - make_interval(secs => $2)
    returning kid`,
};

/**
 * Lets the staged key sign from now on and retires the one before it, in one transaction. False, and nothing
 * changed, when it is not staged or was published less than a key-set lifetime ago (R17).
 */
export async function activateKey(database: Database, kid: string): Promise<boolean> {
  return database.transaction(async (queries) => {
    await queries.query(retireActive, [kid, keySetLifetime]);
    const rows = await queries.query(activateStaged, [kid, keySetLifetime]);
    return rows.length > 0;
  });
}
