// Table `client_secrets`. Only hashes are stored.
import { forUpdate, milliseconds, onlyRow, type Queries } from '@course-exchange/runtime/postgres/pool';
import { describeError, type Logger } from '@course-exchange/runtime/process/logger';
import type { ClientId } from '../ids.ts';
import type { SecretTimes } from './secret.ts';

/** The secrets of row `c` valid by the database's clock, in hex. Index: client_secrets_pkey. */
export const validSecretHashes = `array(select encode(s.secret_hash, 'hex') from client_secrets s
      where s.client_id = c.client_id and s.retired_at is null and s.suspended_at is null
        and (s.expires_at is null or s.expires_at > now()))`;

export interface IssuedSecret extends SecretTimes {
  readonly secretId: string;
  readonly clientId: ClientId;
  readonly createdAt: number;
}

const columns = `secret_id as "secretId", client_id as "clientId", ${milliseconds('created_at')} as "createdAt",
    ${milliseconds('expires_at')} as "expiresAt", ${milliseconds('retired_at')} as "retiredAt",
    ${milliseconds('suspended_at')} as "suspendedAt", ${milliseconds('last_used_at')} as "lastUsedAt"`;

// Index: client_secrets_pkey.
const ofClients = {
  name: 'secrets of clients',
  text: `select ${columns} from client_secrets where client_id = any($1)
    order by client_id, created_at desc, secret_id`,
};

/** Newest first. */
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

export async function insertSecret(
  queries: Queries,
  secret: { readonly clientId: ClientId; readonly hash: Buffer; readonly expiresAt: number | null },
): Promise<IssuedSecret> {
  return onlyRow<IssuedSecret>(queries, insert, [secret.clientId, secret.hash, secret.expiresAt]);
}

// Index: client_secrets_id.
const retire = {
  name: 'retire client secret',
  text: `update client_secrets set retired_at = now() where secret_id = $1 returning ${columns}`,
};

export async function retireIssuedSecret(queries: Queries, secretId: string): Promise<IssuedSecret> {
  return onlyRow<IssuedSecret>(queries, retire, [secretId]);
}

// Index: client_secrets_id.
const byId = { name: 'client secret', text: `select ${columns} from client_secrets where secret_id = $1` };

export async function findSecret(queries: Queries, secretId: string): Promise<IssuedSecret | undefined> {
  const [secret] = await queries.query<IssuedSecret>(forUpdate(byId), [secretId]);
  return secret;
}

const isValid = 'retired_at is null and suspended_at is null and (expires_at is null or expires_at > now())';
const valid = {
  name: 'valid client secrets',
  text: `select ${columns} from client_secrets where ${isValid} order by client_id, created_at desc`,
};

export async function listValidSecrets(queries: Queries): Promise<IssuedSecret[]> {
  return queries.query<IssuedSecret>(valid, []);
}

// With the last one to expire: a client without a valid secret must not go unseen.
const lasting = {
  name: 'lasting client secrets',
  text: `select ${columns} from client_secrets where ${isValid} or secret_id in (
      select distinct on (s.client_id) s.secret_id from client_secrets s join clients c using (client_id)
      where c.active and s.retired_at is null and s.suspended_at is null
      order by s.client_id, s.expires_at desc nulls first)`,
};

export async function listLastingSecrets(queries: Queries): Promise<IssuedSecret[]> {
  return queries.query<IssuedSecret>(lasting, []);
}

const suspend = {
  name: 'suspend client secrets',
  text: `update client_secrets set suspended_at = now() where ${isValid}
    and ($1::text[] is null or secret_id = any($1)) returning ${columns}`,
};

export async function suspendSecrets(
  queries: Queries,
  secretIds: readonly string[] | null,
): Promise<IssuedSecret[]> {
  return queries.query<IssuedSecret>(suspend, [secretIds]);
}

// Index: client_secrets_id.
const resume = {
  name: 'resume client secret',
  text: `update client_secrets set suspended_at = null where secret_id = $1 returning ${columns}`,
};

export async function resumeSuspendedSecret(queries: Queries, secretId: string): Promise<IssuedSecret> {
  return onlyRow<IssuedSecret>(queries, resume, [secretId]);
}

// One write per minute, for all pods.
const used = {
  name: 'record secret use',
  text: `update client_secrets set last_used_at = now()
    where client_id = $1 and secret_hash = decode($2, 'hex')
      and (last_used_at is null or last_used_at < now() - interval '55 seconds')`,
};

export type OnSecretUsed = (clientId: ClientId, hash: string) => void;

const writeEveryMs = 60_000;

export interface SecretUseDeps {
  readonly database: Queries;
  readonly now: () => number;
  readonly logger: Logger;
}

/** After the answer, at most once a minute, best effort. */
export function createSecretUse({ database, now, logger }: SecretUseDeps): OnSecretUsed {
  const written = new Map<string, number>();
  return (clientId, hash) => {
    const time = now();
    if (time - (written.get(hash) ?? 0) < writeEveryMs) return;
    written.set(hash, time);
    database.query(used, [clientId, hash]).catch((error: unknown) => {
      written.delete(hash);
      logger.warn('use of a client secret not recorded', describeError(error));
    });
  };
}
