// Users and partners that one test makes in the stores and may break, and Postgres itself.
import { createHash, randomBytes } from 'node:crypto';
import { Pool, type QueryResultRow } from 'pg';
import type { DemoUser, Partner } from '../support/stack-file.ts';
import { stack, typical } from './deployment.ts';

const pool = new Pool({ connectionString: stack.postgres, max: 2, allowExitOnIdle: true });
pool.on('error', () => undefined);

export async function sql<Row extends QueryResultRow>(
  text: string,
  ...values: readonly unknown[]
): Promise<Row[]> {
  return (await pool.query<Row>(text, [...values])).rows;
}

/** A user with the typical user's password and no designs. */
export async function throwawayUser(): Promise<DemoUser> {
  const sub = randomBytes(16).toString('base64url');
  const email = `throwaway-${sub.toLowerCase()}@example.test`;
  await sql(
    `insert into identity.users (sub, email, email_verified, name, password_hash)
     select $1, $2, true, 'Throw Away', password_hash from identity.users where sub = $3`,
    ...[sub, email, typical.sub],
  );
  return { email, password: typical.password, sub, name: 'Throw Away', about: 'made by a test' };
}

export async function throwawayPartner(
  scopes: readonly string[] = ['openid', 'email', 'profile'],
): Promise<Partner> {
  const clientId = `throwaway-${randomBytes(8).toString('hex')}`;
  const clientSecret = randomBytes(32).toString('base64url');
  const redirectUris: [string] = ['http://127.0.0.1:9099/throwaway'];
  await sql(
    `with made as (insert into identity.clients (client_id, name, active, approval_state, scopes, redirect_uris)
       values ($1, 'Throwaway Partner', true, 'approved', $2, $3) returning client_id)
     insert into identity.client_secrets (client_id, secret_hash) select client_id, $4 from made`,
    ...[clientId, scopes, redirectUris, createHash('sha256').update(clientSecret).digest()],
  );
  return { name: 'Throwaway Partner', clientId, clientSecret, redirectUris, scopes, active: true };
}
