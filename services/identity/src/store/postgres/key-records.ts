// Table `signing_keys` as operators change it. Every change is made under one lock, so that of two operators
// one sees the other's work. Private keys are sealed; this file never opens them.
import type { Queries } from '@course-exchange/runtime/postgres';
import type { SigningKeyRecord } from '../../domain/key-lifecycle.ts';
import type { NewSigningKey } from './signing-keys.ts';

export interface SealedKey extends SigningKeyRecord {
  /** Empty when the private half was erased. */
  readonly sealedPrivateKey: Buffer;
}

const lock = {
  name: 'lock signing keys',
  text: `select pg_advisory_xact_lock(hashtext('identity signing keys'))`,
};

/** Until the transaction ends. */
export async function lockKeys(queries: Queries): Promise<void> {
  await queries.query(lock, []);
}

const milliseconds = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;
const list = {
  name: 'signing keys',
  text: `select kid, algorithm, state, private_key as "sealedPrivateKey",
      ${milliseconds('published_at')} as "publishedAt", ${milliseconds('activated_at')} as "activatedAt",
      ${milliseconds('retired_at')} as "retiredAt", ${milliseconds('removed_at')} as "removedAt"
    from signing_keys order by published_at desc, kid`,
};

/** Every key there ever was, newest first. */
export async function listKeys(database: Queries): Promise<SealedKey[]> {
  return database.query<SealedKey>(list, []);
}

const clock = {
  name: 'clock',
  text: `select ${milliseconds('clock_timestamp()')} as now`,
};

/** The database's clock, by which keys are published; milliseconds since the epoch. */
export async function readClock(database: Queries): Promise<number> {
  const [row] = await database.query<{ now: number }>(clock, []);
  if (row === undefined) throw new Error('the clock returned no row');
  return row.now;
}

const insert = {
  name: 'publish signing key',
  text: `insert into signing_keys (kid, algorithm, public_jwk, private_key, published_at)
    values ($1, $2, $3, $4, clock_timestamp())`,
};

export async function publishKey(queries: Queries, key: NewSigningKey): Promise<void> {
  await queries.query(insert, [key.kid, key.algorithm, JSON.stringify(key.publicJwk), key.sealedPrivateKey]);
}

const supersede = {
  name: 'supersede signing key',
  text: `update signing_keys set state = 'retired', retired_at = clock_timestamp()
    where algorithm = (select algorithm from signing_keys where kid = $1) and state = 'active'`,
};
const activate = {
  name: 'let signing key sign',
  text: `update signing_keys set state = 'active', activated_at = clock_timestamp() where kid = $1`,
};

/** The staged key signs, the one before it no more. */
export async function letSign(queries: Queries, kid: string): Promise<void> {
  await queries.query(supersede, [kid]);
  await queries.query(activate, [kid]);
}

const remove = {
  name: 'remove signing key',
  text: `update signing_keys set state = 'retired', retired_at = coalesce(retired_at, clock_timestamp()),
      removed_at = clock_timestamp(), private_key = ''
    where kid = $1`,
};

/** Out of the key set, its private half erased. */
export async function removeKey(queries: Queries, kid: string): Promise<void> {
  await queries.query(remove, [kid]);
}

const reseal = {
  name: 'reseal signing key',
  text: 'update signing_keys set private_key = $2 where kid = $1',
};

export async function resealKey(queries: Queries, kid: string, sealed: Buffer): Promise<void> {
  await queries.query(reseal, [kid, sealed]);
}
