// Logs in to Postgres as an account of the installation, and asks what that login is and may do.
import type { TLSSocket } from 'node:tls';
import pg from 'pg';
import { type Finding, failure } from '../process/checks.ts';
import { isLoopback } from '../process/ip-address.ts';
import { isNetworkError, storeProblem, withRetries } from '../process/network-errors.ts';
import { connectionConfig, endConnection } from './connection.ts';
import type { Queries } from './pool.ts';
import { postgresAccess } from './settings.ts';

export interface Account {
  /** Begins its settings: `POSTGRES` for POSTGRES_URL. */
  readonly prefix: string;
  /** The role that its login must be, or have the rights of. */
  readonly role: string;
  /** It only reads: a standby will do. */
  readonly readOnly?: boolean;
  /** It works as the owner, which no other may. */
  readonly migrates?: boolean;
}

export interface Installation {
  /** Owns schemas and tables, and cannot log in; the migrator works as it. */
  readonly owner: string;
  /** The schema that the migrator brings up to date. */
  readonly schema: string;
  readonly accounts: readonly Account[];
}

export interface Login extends Queries, Rights {
  readonly account: Account;
  /** The setting that holds the address, such as POSTGRES_URL. */
  readonly setting: string;
  readonly server: string;
  readonly user: string;
  readonly database: string;
  /** By TLS with a verified certificate, or within this machine. */
  readonly secure: boolean;
  readonly close: () => Promise<void>;
}

/** What the login is and may do. */
interface Rights {
  readonly readOnly: boolean;
  readonly searchPath: string;
  /** It has the rights of its role. */
  readonly member: boolean;
  /** What it is or can become beyond that. */
  readonly powers: readonly string[];
  /** The schema has one that it may read, or write where the account writes. */
  readonly hasTables: boolean;
  /** Roles of the installation that are not there. */
  readonly missing: readonly string[];
  /** It works as the owner, which has the schema or may create it. */
  readonly migrates: boolean;
}

const statement = `select current_setting('transaction_read_only')::boolean as "readOnly", current_setting('search_path') as "searchPath",
    exists (select from pg_roles where rolname = $2 and pg_has_role(session_user, oid, 'usage')) as member,
    array(select distinct power from pg_roles r, lateral (values (rolsuper, 'superuser'), (rolcreaterole, 'createrole'),
        (rolreplication, 'replication'), (rolbypassrls, 'bypassrls'), (rolname = $3 and not $4, rolname::text)) p (held, power)
      where held and pg_has_role(session_user, r.oid, 'member') order by 1) as powers,
    exists (select from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = $1 and relkind = 'r'
      and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, $5)) as "hasTables",
    array(select name from unnest($6::text[]) name where to_regrole(name) is null) as missing,
    current_user = $3 and has_database_privilege(current_database(), 'create')
      and not exists (select from pg_namespace where nspname = $1 and pg_get_userbyid(nspowner) <> $3) as migrates`;

/** How long a connection, and each query, may take (ms). */
const timeoutMs = 5_000;

/** The connection is open until `close`. A failure says why there is none. */
export async function logIn(
  account: Account,
  { owner, schema, accounts }: Installation,
): Promise<Login | Finding> {
  const access = postgresAccess(account.prefix);
  const { setting } = access;
  const { readOnly = false, migrates = false, role } = account;
  let where = { setting, server: `Postgres of ${setting}`, user: role, database: '' };
  const attempt = async (): Promise<Login> => {
    // Starts as a service does: what refuses its parameters, as poolers do, is found here.
    const options = { applicationName: 'preflight', statementTimeoutMs: timeoutMs, connectMs: timeoutMs };
    const client = new pg.Client(connectionConfig({ url: access, ...options, schema, readOnly }));
    const { host, port, user = '', database = '' } = client;
    where = { setting, server: `Postgres at ${host}:${port}`, user, database };
    // A connection lost between two checks fails the next query; unheard, it would end the process.
    client.on('error', () => {});
    try {
      await client.connect();
      const roles = [owner, ...accounts.map((one) => one.role)];
      const values = [schema, role, owner, migrates, readOnly ? 'select' : 'insert', roles];
      const { rows } = await client.query<Rights>(statement, values);
      const { authorized } = client.connection.stream as TLSSocket;
      return {
        ...(rows[0] as Rights),
        ...where,
        account,
        secure: authorized || host.startsWith('/') || isLoopback(host),
        query: async ({ text }, given) => (await client.query({ text, values: [...given] })).rows,
        close: () => endConnection(client),
      };
    } catch (error) {
      await endConnection(client);
      throw error;
    }
  };
  return withRetries(attempt, (code) => isNetworkError(code) || code === '57P03').catch((error: unknown) =>
    failure(
      storeProblem(error, { ...where, authority: `sslrootcert in ${setting}`, refusals: refusalsOf(where) }),
    ),
  );
}

/** What makes the roles and their rights. */
export function rolesScript(database: string): string {
  return `run deploy/postgres/roles.sql in the database ${database}, as superuser or as its owner with CREATEROLE`;
}

/** By SQLSTATE. */
function refusalsOf({ setting, user, database }: Pick<Login, 'setting' | 'user' | 'database'>) {
  // It takes precedence over the one in the URL.
  const password = setting.replace(/_URL$/, '_PASSWORD');
  return {
    '28P01': `refuses the password of ${user}: set that of ${setting} (${password}) or alter the role`,
    '28000': `does not let ${user} in (28000): it needs LOGIN and a line in pg_hba.conf, and ${setting} TLS (sslmode=verify-full) where the server requires it`,
    '3D000': `has no database ${database}: create it, or correct the name in ${setting}`,
    '42501': `does not let ${user} into the database ${database}: ${rolesScript(database)}`,
    '08P01': `refuses the parameters of a connection, as a connection pooler does: name the server itself in ${setting}`,
  };
}
