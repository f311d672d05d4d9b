// Table `signing_keys`: the states of `signing-key.ts`, written under one lock. Private keys stay encrypted
// (R18.4).
import {
  allRows,
  firstRow,
  milliseconds,
  onlyRow,
  type Queries,
} from '@course-exchange/runtime/postgres/pool';
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

/** Oldest first. */
export const listPublishedKeys = allRows<PublishedKey>(
  'published signing keys',
  `select kid, algorithm, public_jwk as "publicJwk", private_key as "encryptedPrivateKey", state,
      ${milliseconds("case state when 'staged' then published_at when 'active' then activated_at else superseded_at end")} as since
    from signing_keys
    where state in ('staged', 'active')
      or (state = 'superseded' and superseded_at > now() - make_interval(secs => ${supersededLifetime}))
    order by published_at, kid`,
);

/** Newest first. */
export const listKeys = allRows<StoredKey>(
  'signing keys',
  `select kid, algorithm, state, private_key as "encryptedPrivateKey",
      ${milliseconds('published_at')} as "publishedAt", ${milliseconds('activated_at')} as "activatedAt",
      ${milliseconds('superseded_at')} as "supersededAt", ${milliseconds('retired_at')} as "retiredAt"
    from signing_keys order by published_at desc, kid`,
);

export const lockKeys = allRows(
  'lock signing keys',
  `select pg_advisory_xact_lock(hashtext('identity signing keys'))`,
);

/** The database's, milliseconds since the epoch. */
export const readClock = onlyRow<{ now: number }>(
  'clock',
  `select ${milliseconds('clock_timestamp()')} as now`,
);

type KeyValues = readonly [string, SigningAlgorithm, string, Buffer];

function valuesOf({ kid, algorithm, publicJwk, encryptedPrivateKey }: NewSigningKey): KeyValues {
  return [kid, algorithm, JSON.stringify(publicJwk), encryptedPrivateKey];
}

// Concurrent first migrations make one key.
const insertFirst = firstRow<{ kid: string }, KeyValues>(
  'insert first signing key',
  `insert into signing_keys (kid, algorithm, public_jwk, private_key, state, activated_at)
    select $1, $2, $3, $4, 'active', now()
    where not exists (select from signing_keys where algorithm = $2)
    on conflict do nothing returning kid`,
);

/** Signs at once (R17.3). False if its algorithm has a key. Atomic. */
export async function insertFirstKey(database: Queries, key: NewSigningKey): Promise<boolean> {
  return (await insertFirst(database, ...valuesOf(key))) !== undefined;
}

const publish = allRows<never, KeyValues>(
  'publish signing key',
  `insert into signing_keys (kid, algorithm, public_jwk, private_key, published_at)
    values ($1, $2, $3, $4, clock_timestamp())`,
);

export async function insertStagedKey(queries: Queries, key: NewSigningKey): Promise<void> {
  await publish(queries, ...valuesOf(key));
}

const supersede = allRows<never, [kid: string]>(
  'supersede signing key',
  `update signing_keys set state = 'superseded', superseded_at = clock_timestamp()
    where algorithm = (select algorithm from signing_keys where kid = $1) and state = 'active'`,
);
const activate = allRows<never, [kid: string]>(
  'activate signing key',
  `update signing_keys set state = 'active', activated_at = clock_timestamp() where kid = $1`,
);

export async function markKeyActive(queries: Queries, kid: string): Promise<void> {
  await supersede(queries, kid);
  await activate(queries, kid);
}

/** From staged or superseded; erases the private key. */
export const markKeyRetired = allRows<never, [kid: string]>(
  'retire signing key',
  `update signing_keys set state = 'retired', retired_at = clock_timestamp(), private_key = ''
    where kid = $1`,
);

export const replaceEncryptedKey = allRows<never, [kid: string, encrypted: Buffer]>(
  'replace encrypted private key',
  'update signing_keys set private_key = $2 where kid = $1',
);
