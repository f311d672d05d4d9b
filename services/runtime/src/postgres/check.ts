// The migration job's checks of Postgres: rights of each account, the migrator, and the schema's version.
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import pg from 'pg';
import { codeOf, type Finding, findings, type RunCheck } from '../process/checks.ts';
import { isLoopback } from '../process/ip-address.ts';
import type { Condition } from '../process/settings.ts';
import { connectionConfig, endConnection } from './connection.ts';
import type { Queries } from './pool.ts';
import { loginRemedy, settingsDropped } from './refusal.ts';
import { appliedVersion } from './schema-version.ts';
import { postgresAccess } from './settings.ts';
import { isState, stateOf } from './sqlstate.ts';

interface Account {
  /** Prefix of its settings: `POSTGRES` for POSTGRES_URL. */
  readonly prefix: string;
  readonly role: string;
  /** A standby is enough. */
  readonly readOnly?: boolean;
  /** It works as the owner. */
  readonly migrates?: boolean;
}

export interface Installation {
  /** Cannot log in; the migrator works as it. */
  readonly owner: string;
  readonly schema: string;
  readonly accounts: readonly Account[];
}

export interface PostgresChecks {
  readonly installation: Installation;
  /** The job's settings. An account without a URL is skipped. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Version of the newest migration in this image. */
  readonly schemaVersion: number;
}

/** `more`: checks on the migrator's connection, if there is one. */
export async function checkPostgres(
  { installation, config, schemaVersion }: PostgresChecks,
  run: RunCheck,
  more: (migrator: Queries) => Promise<void> = async () => {},
): Promise<void> {
  const { schema, accounts } = installation;
  const logins: Login[] = [];
  const migrator = () => logins.find(({ account }) => account.migrates);
  try {
    await run('postgres', async () => {
      const found: Finding[] = [];
      for (const account of accounts) {
        const setting = `${account.prefix}_URL`;
        if (config[setting] === undefined) {
          found.push({ kind: 'skipped', message: `${setting} is not set here.` });
          continue;
        }
        const login = await withRetries(() => logIn(account, installation)).catch(codeOf);
        if (typeof login === 'object') logins.push(login);
        else
          found.push({
            kind: 'failure',
            message: `${setting} cannot log in as ${account.role} (${login}): ${loginRemedy(login)}.`,
          });
      }
      const migrating = migrator();
      const version = migrating ? await appliedVersion(migrating, schema) : 0;
      const production = config.ENVIRONMENT === 'production';
      return [
        ...found,
        ...logins.flatMap((login) => findings('failure', faultsOf(login, installation, version, production))),
        ...findings('warning', [
          {
            bad: version > schemaVersion,
            message: `The schema ${schema} has version ${version} and this image knows ${schemaVersion}: it stays as it is; go on only if you mean to run the older version.`,
          },
        ]),
      ];
    });
    const migrating = migrator();
    if (migrating) await more(migrating);
  } finally {
    await Promise.all(logins.map(({ close }) => close()));
  }
}

function faultsOf(
  { account, user, secure, fit, hasTables, migrates, powers, isPooled }: Login,
  { owner, schema }: Installation,
  version: number,
  production: boolean,
): readonly Condition[] {
  const setting = `${account.prefix}_URL`;
  const login = `${setting} logs in as ${user}, which`;
  return [
    {
      bad: production && !secure,
      message: `${setting} has no verified TLS, which production requires: add sslmode=verify-full and sslrootcert to it.`,
    },
    { bad: isPooled, message: `${setting}: ${settingsDropped}.` },
    {
      bad: !fit || (version > 0 && !hasTables),
      message: `${login} lacks rights of ${account.role} in the schema ${schema}: name that role, the primary itself and the one database, or run deploy/postgres/roles.sql.`,
    },
    { bad: powers.length > 0, message: `${login} is or can become ${powers.join(', ')}: revoke that.` },
    {
      bad: account.migrates === true && !migrates,
      message: `${login} cannot migrate as ${owner}: run deploy/postgres/roles.sql in its database.`,
    },
  ];
}

interface Login extends Queries {
  readonly account: Account;
  readonly user: string;
  /** By TLS with a verified certificate, or within this machine. */
  readonly secure: boolean;
  /** The search path that it asked for is not set, which no setting of a server can cause. */
  readonly isPooled: boolean;
  /** With the role's rights, on a primary if it writes. */
  readonly fit: boolean;
  /** It may read a table of the schema, or write it if it writes. */
  readonly hasTables: boolean;
  /** Rights beyond its role that it has or can get. */
  readonly powers: readonly string[];
  /** All roles exist, and it works as the owner of the schema. */
  readonly migrates: boolean;
  readonly close: () => Promise<void>;
}

const statement = `select session_user as user,
    current_setting('search_path') <> $1 as "isPooled",
    ($5 = 'select' or not current_setting('transaction_read_only')::boolean)
      and exists (select from pg_roles where rolname = $2 and pg_has_role(session_user, oid, 'usage')) as fit,
    array(select distinct power from pg_roles r, lateral (values (rolsuper, 'superuser'), (rolcreaterole, 'createrole'),
        (rolreplication, 'replication'), (rolbypassrls, 'bypassrls'), (rolname = $3 and not $4, rolname::text)) p (held, power)
      where held and pg_has_role(session_user, r.oid, 'member') order by 1) as powers,
    exists (select from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = $1 and relkind = 'r'
      and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, $5)) as "hasTables",
    current_user = $3 and has_database_privilege(current_database(), 'create')
      and not exists (select from unnest($6::text[]) name where to_regrole(name) is null)
      and not exists (select from pg_namespace where nspname = $1 and pg_get_userbyid(nspowner) <> $3) as migrates`;

/** Milliseconds. */
const retryDelays = [500, 1_500];

/** Retries while the network fails or the server starts. */
async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (const pause of retryDelays) {
    try {
      return await attempt();
    } catch (error) {
      const state = stateOf(error);
      if (state !== undefined && !isState(state, 'cannot_connect_now')) throw error;
    }
    await sleep(pause);
  }
  return attempt();
}

/** Limit of connecting and of each query (ms). */
const timeoutMs = 5_000;

/** Connects as a service does: a pooler refuses its parameters. */
async function logIn(account: Account, { owner, schema, accounts }: Installation): Promise<Login> {
  const { prefix, role, readOnly = false, migrates = false } = account;
  const options = { applicationName: 'preflight', statementTimeoutMs: timeoutMs, connectMs: timeoutMs };
  const client = new pg.Client(
    connectionConfig({ url: postgresAccess(prefix), ...options, schema, readOnly }),
  );
  // An unhandled error would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const roles = [owner, ...accounts.map((one) => one.role)];
    const values = [schema, role, owner, migrates, readOnly ? 'select' : 'insert', roles];
    const { rows } = await client.query(statement, values);
    const { authorized } = client.connection.stream as TLSSocket;
    return {
      ...rows[0],
      account,
      secure: authorized || client.host.startsWith('/') || isLoopback(client.host),
      query: async ({ text }, given) => (await client.query({ text, values: [...given] })).rows,
      close: () => endConnection(client),
    };
  } catch (error) {
    await endConnection(client);
    throw error;
  }
}
