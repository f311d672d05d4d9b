// Table `client_secrets`. Only hashes are stored.
import {
  allRows,
  firstRow,
  milliseconds,
  onlyRow,
  type Queries,
} from '@course-exchange/runtime/postgres/pool';
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

/** Newest first. Index: client_secrets_pkey. */
export const readSecrets = allRows<IssuedSecret, [clientIds: readonly ClientId[]]>(
  'secrets of clients',
  `select ${columns} from client_secrets where client_id = any($1)
    order by client_id, created_at desc, secret_id`,
);

export const insertSecret = onlyRow<
  IssuedSecret,
  [clientId: ClientId, hash: Buffer, expiresAt: number | null]
>(
  'add client secret',
  `insert into client_secrets (client_id, secret_hash, expires_at)
    values ($1, $2, to_timestamp($3::float8 / 1000)) returning ${columns}`,
);

/** Index: client_secrets_id. */
export const retireIssuedSecret = onlyRow<IssuedSecret, [secretId: string]>(
  'retire client secret',
  `update client_secrets set retired_at = now() where secret_id = $1 returning ${columns}`,
);

/** Locks it. Index: client_secrets_id. */
export const findSecret = firstRow<IssuedSecret, [secretId: string]>(
  'client secret for update',
  `select ${columns} from client_secrets where secret_id = $1 for update`,
);

const isValid = 'retired_at is null and suspended_at is null and (expires_at is null or expires_at > now())';

export const listValidSecrets = allRows<IssuedSecret>(
  'valid client secrets',
  `select ${columns} from client_secrets where ${isValid} order by client_id, created_at desc`,
);

/** With the last one to expire: a client without a valid secret must not go unseen. */
export const listLastingSecrets = allRows<IssuedSecret>(
  'lasting client secrets',
  `select ${columns} from client_secrets where ${isValid} or secret_id in (
      select distinct on (s.client_id) s.secret_id from client_secrets s join clients c using (client_id)
      where c.active and s.retired_at is null and s.suspended_at is null
      order by s.client_id, s.expires_at desc nulls first)`,
);

/** The valid ones of `secretIds`; null: all. */
export const suspendSecrets = allRows<IssuedSecret, [secretIds: readonly string[] | null]>(
  'suspend client secrets',
  `update client_secrets set suspended_at = now() where ${isValid}
    and ($1::text[] is null or secret_id = any($1)) returning ${columns}`,
);

/** Index: client_secrets_id. */
export const resumeSuspendedSecret = onlyRow<IssuedSecret, [secretId: string]>(
  'resume client secret',
  `update client_secrets set suspended_at = null where secret_id = $1 returning ${columns}`,
);

// One write per minute, for all pods.
const recordUse = allRows<never, [clientId: ClientId, hash: string]>(
  'record secret use',
  `update client_secrets set last_used_at = now()
    where client_id = $1 and secret_hash = decode($2, 'hex')
      and (last_used_at is null or last_used_at < now() - interval '55 seconds')`,
);

const writeEveryMs = 60_000;

export interface SecretUseDeps {
  readonly database: Queries;
  readonly now: () => number;
  readonly logger: Logger;
}

/** After the answer, at most once a minute, best effort. */
export function createSecretUse({ database, now, logger }: SecretUseDeps) {
  const written = new Map<string, number>();
  return (clientId: ClientId, hash: string): void => {
    const time = now();
    if (time - (written.get(hash) ?? 0) < writeEveryMs) return;
    written.set(hash, time);
    recordUse(database, clientId, hash).catch((error: unknown) => {
      written.delete(hash);
      logger.warn('use of a client secret not recorded', describeError(error));
    });
  };
}
