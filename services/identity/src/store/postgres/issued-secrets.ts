// Table `client_secrets` as operators see it: which there are, until when, and when each was last used. The
// secret itself is nowhere.
import type { Queries } from '@course-exchange/runtime/postgres';
import type { SecretTimes } from '../../domain/client-secret.ts';
import type { ClientId } from '../../domain/ids.ts';

/** Times in milliseconds since the epoch. */
export interface IssuedSecret extends SecretTimes {
  readonly secretId: string;
  readonly clientId: ClientId;
  readonly createdAt: number;
}

const milliseconds = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;
const columns = `secret_id as "secretId", client_id as "clientId", ${milliseconds('created_at')} as "createdAt",
    ${milliseconds('expires_at')} as "expiresAt", ${milliseconds('retired_at')} as "retiredAt",
    ${milliseconds('last_used_at')} as "lastUsedAt"`;

// Index: client_secrets_pkey.
const ofClients = {
  name: 'secrets of clients',
  text: `select ${columns} from client_secrets where client_id = any($1)
    order by client_id, created_at desc, secret_id`,
};

/** Newest first for each client. */
export async function readSecrets(
  database: Queries,
  clientIds: readonly ClientId[],
): Promise<IssuedSecret[]> {
  return database.query<IssuedSecret>(ofClients, [clientIds]);
}

const insert = {
  name: 'add client secret',
  text: `insert into client_secrets (client_id, secret_hash, expires_at)
    values ($1, $2, to_timestamp($3::float8 / 1000)) returning ${columns}`,
};

/** `hash`: SHA-256 of the secret. */
export async function insertSecret(
  queries: Queries,
  secret: { readonly clientId: ClientId; readonly hash: Buffer; readonly expiresAt: number | null },
): Promise<IssuedSecret> {
  const [row] = await queries.query<IssuedSecret>(insert, [secret.clientId, secret.hash, secret.expiresAt]);
  if (row === undefined) throw new Error('an insert returned no row');
  return row;
}

// Index: client_secrets_id.
const retire = {
  name: 'retire client secret',
  text: `update client_secrets set retired_at = now() where secret_id = $1 returning ${columns}`,
};

export async function retireIssuedSecret(queries: Queries, secretId: string): Promise<IssuedSecret> {
  const [row] = await queries.query<IssuedSecret>(retire, [secretId]);
  if (row === undefined) throw new Error('a locked secret is gone');
  return row;
}

// The condition keeps it at one write a minute also when many pods serve the client.
const used = {
  name: 'record secret use',
  text: `update client_secrets set last_used_at = now()
    where client_id = $1 and secret_hash = decode($2, 'hex')
      and (last_used_at is null or last_used_at < now() - interval '55 seconds')`,
};

/** `hash`: SHA-256 in hex. */
export async function recordSecretUse(database: Queries, clientId: ClientId, hash: string): Promise<void> {
  await database.query(used, [clientId, hash]);
}
