// Table `signing_keys`: the states of `signing-key.ts`, written under one lock. Private keys stay encrypted (R17,
// R18).
import { milliseconds, onlyRow, type Queries } from '@course-exchange/runtime/postgres/pool';
import { type SigningAlgorithm, type SigningKeyRecord, supersededLifetime } from './signing-key.ts';

export interface NewSigningKey {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly publicJwk: Readonly<Record<string, unknown>>;
  readonly encryptedPrivateKey: Buffer;
}

export interface PublishedKey extends NewSigningKey {
  readonly state: 'staged' | 'active' | 'superseded';
  /** In milliseconds since the epoch, of this state. */
  readonly since: number;
}

export interface StoredKey extends SigningKeyRecord {
  /** Empty once erased. */
  readonly encryptedPrivateKey: Buffer;
}

const published = {
  name: 'published signing keys',
  text: `select kid, algorithm, public_jwk as "publicJwk", private_key as "encryptedPrivateKey", state,
      ${milliseconds("case state when 'staged' then published_at when 'active' then activated_at else superseded_at end")} as since
    from signing_keys
    where state in ('staged', 'active')
      or (state = 'superseded' and superseded_at > now() - make_interval(secs => $1))
    order by published_at, kid`,
};

/** Oldest first. */
export async function listPublishedKeys(database: Queries): Promise<readonly PublishedKey[]> {
  return database.query<PublishedKey>(published, [supersededLifetime]);
}

const list = {
  name: 'signing keys',
  text: `select kid, algorithm, state, private_key as "encryptedPrivateKey",
      ${milliseconds('published_at')} as "publishedAt", ${milliseconds('activated_at')} as "activatedAt",
      ${milliseconds('superseded_at')} as "supersededAt", ${milliseconds('retired_at')} as "retiredAt"
    from signing_keys order by published_at desc, kid`,
};

export async function listKeys(database: Queries): Promise<StoredKey[]> {
  return database.query<StoredKey>(list, []);
}

const lock = {
  name: 'lock signing keys',
  text: `select pg_advisory_xact_lock(hashtext('identity signing keys'))`,
};

export async function lockKeys(queries: Queries): Promise<void> {
  await queries.query(lock, []);
}

const clock = {
  name: 'clock',
  text: `select ${milliseconds('clock_timestamp()')} as now`,
};

/** The database's, milliseconds since the epoch. */
export async function readClock(database: Queries): Promise<number> {
  return (await onlyRow<{ now: number }>(database, clock, [])).now;
}

// Concurrent first migrations make one key.
const insertFirst = {
  name: 'insert first signing key',
  text: `insert into signing_keys (kid, algorithm, public_jwk, private_key, state, activated_at)
    select $1, $2, $3, $4, 'active', now()
    where not exists (select from signing_keys where algorithm = $2)
    on conflict do nothing returning kid`,
};

/** Signs at once. False if its algorithm has a key (R17). Atomic. */
export async function insertFirstKey(database: Queries, key: NewSigningKey): Promise<boolean> {
  return (await database.query(insertFirst, valuesOf(key))).length > 0;
}

const publish = {
  name: 'publish signing key',
  text: `insert into signing_keys (kid, algorithm, public_jwk, private_key, published_at)
    values ($1, $2, $3, $4, clock_timestamp())`,
};

export async function insertStagedKey(queries: Queries, key: NewSigningKey): Promise<void> {
  await queries.query(publish, valuesOf(key));
}

function valuesOf({ kid, algorithm, publicJwk, encryptedPrivateKey }: NewSigningKey): unknown[] {
  return [kid, algorithm, JSON.stringify(publicJwk), encryptedPrivateKey];
}

const supersede = {
  name: 'supersede signing key',
  text: `update signing_keys set state = 'superseded', superseded_at = clock_timestamp()
    where algorithm = (select algorithm from signing_keys where kid = $1) and state = 'active'`,
};
const activate = {
  name: 'activate signing key',
  text: `update signing_keys set state = 'active', activated_at = clock_timestamp() where kid = $1`,
};

export async function markKeyActive(queries: Queries, kid: string): Promise<void> {
  await queries.query(supersede, [kid]);
  await queries.query(activate, [kid]);
}

const retire = {
  name: 'retire signing key',
  text: `update signing_keys set state = 'retired', retired_at = clock_timestamp(), private_key = ''
    where kid = $1`,
};

/** From staged or superseded; erases the private key. */
export async function markKeyRetired(queries: Queries, kid: string): Promise<void> {
  await queries.query(retire, [kid]);
}

const replacePrivateKey = {
  name: 'replace encrypted private key',
  text: 'update signing_keys set private_key = $2 where kid = $1',
};

export async function replaceEncryptedKey(queries: Queries, kid: string, encrypted: Buffer): Promise<void> {
  await queries.query(replacePrivateKey, [kid, encrypted]);
}
