// What a migration job checks of Postgres before it changes anything: each account gets in, is who it must be and comes
// to the same database; then the roles, and the version of the schema.
import pg from 'pg';
import { type CheckGroup, type Finding, failure, skipped, warning } from '../process/checks.ts';
import { isNetworkError, withRetries } from '../process/network-errors.ts';
import { ConfigurationError } from '../process/settings.ts';
import { checkAccount } from './check-account.ts';
import { errorText, type PostgresTarget } from './check-errors.ts';
import { type Account, checkRoles, type Installation } from './check-roles.ts';
import { connectionConfig, endConnection } from './connection.ts';
import type { Queries } from './pool.ts';
import { appliedVersion } from './schema-version.ts';
import { postgresAccess } from './settings.ts';

export interface PostgresChecks {
  readonly installation: Installation;
  /** The job's settings: an account whose URL is absent is skipped, and that is said. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Version of the newest migration that this image knows. */
  readonly schemaVersion: number;
}

interface Login extends Queries {
  readonly setting: string;
  readonly database: DatabaseIdentity;
  readonly findings: readonly Finding[];
  readonly close: () => Promise<void>;
}

/** Runs `work` with the checks to make, and the migrator's connection where there is one. */
export async function withPostgresChecks<T>(
  { installation, config, schemaVersion }: PostgresChecks,
  work: (groups: readonly CheckGroup[], migrator: Queries | undefined) => Promise<T>,
): Promise<T> {
  const outcomes: (Login | Finding)[] = [];
  const absent: Finding[] = [];
  for (const account of installation.accounts) {
    const setting = `${account.prefix}_URL`;
    if (config[setting] === undefined) absent.push(skipped(`${setting} is not set here.`));
    else outcomes.push(await logIn(account, installation, config.ENVIRONMENT === 'production'));
  }
  const logins = outcomes.filter((outcome) => 'query' in outcome);
  const findings = outcomes.flatMap((outcome) => ('query' in outcome ? outcome.findings : [outcome]));
  const migrator = logins.find(({ setting }) => setting === 'MIGRATOR_POSTGRES_URL');
  const onMigrator = migrator && [
    { name: 'roles', run: () => checkRoles(migrator, installation) },
    { name: 'schema', run: () => checkVersion(migrator, installation.schema, schemaVersion) },
  ];
  const groups = [
    { name: 'postgres', run: async () => [...findings, ...otherDatabases(logins)] },
    ...absent.map((finding) => ({ name: 'postgres', run: async () => [finding] })),
    ...(onMigrator ?? []),
  ];
  try {
    return await work(groups, migrator);
  } finally {
    await Promise.all(logins.map(({ close }) => close()));
  }
}

/** How long a connection, and each query, may take (ms). */
const timeoutMs = 5_000;

async function logIn(
  account: Account,
  installation: Installation,
  mustEncrypt: boolean,
): Promise<Login | Finding> {
  const access = postgresAccess(account.prefix);
  const { setting } = access;
  let target: PostgresTarget = { setting, host: 'an unknown host', port: 5432, user: '', database: '' };
  const attempt = async () => {
    // Starts as a service does: what refuses its parameters, as poolers do, is found here.
    const config = connectionConfig({
      url: access,
      applicationName: 'preflight',
      statementTimeoutMs: timeoutMs,
      schema: installation.schema,
      readOnly: account.readOnly ?? false,
    });
    const client = new pg.Client({ ...config, connectionTimeoutMillis: timeoutMs });
    const { host, port, user = '', database = '' } = client;
    target = { setting, host, port, user, database };
    try {
      return await enter(client, (login) =>
        checkAccount(login, target, account, { ...installation, mustEncrypt }),
      );
    } catch (error) {
      await endConnection(client);
      throw error;
    }
  };
  try {
    return { ...(await withRetries(attempt, mayPass)), setting };
  } catch (error) {
    if (error instanceof ConfigurationError) return failure(`${error.mistakes.join('; ')}.`);
    return failure(errorText(error, target));
  }
}

async function enter(
  client: pg.Client,
  check: (login: Queries) => Promise<readonly Finding[]>,
): Promise<Omit<Login, 'setting'>> {
  // A connection lost between two checks fails the next query; unheard, it would end the process.
  client.on('error', () => {});
  await client.connect();
  const login: Queries = {
    query: async ({ text }, values) => (await client.query({ text, values: [...values] })).rows,
  };
  const findings = await check(login);
  const database = await identifyDatabase(login);
  return { ...login, database, findings, close: () => endConnection(client) };
}

/** A fault of the network, or of a server that is starting: it may be gone at the next try. */
function mayPass(error: unknown): boolean {
  if (error instanceof ConfigurationError) return false;
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  return code === undefined ? message !== 'Query read timeout' : isNetworkError(code) || code === '57P03';
}

interface DatabaseIdentity {
  readonly database: string;
  /** Absent where the login may not ask for it. */
  readonly server?: string;
}

const databaseStatement = {
  name: 'database identifier',
  text: 'select oid::text as database from pg_database where datname = current_database()',
};

const serverStatement = {
  name: 'server identifier',
  text: 'select system_identifier::text as server from pg_control_system()',
};

async function identifyDatabase(login: Queries): Promise<DatabaseIdentity> {
  const [found] = await login.query<{ database: string }>(databaseStatement, []);
  const [control] = await login.query<{ server: string }>(serverStatement, []).catch((error: unknown) => {
    if ((error as { readonly code?: string }).code === '42501') return [];
    throw error;
  });
  return { database: found?.database ?? '', ...control };
}

function otherDatabases([first, ...others]: readonly Login[]): readonly Finding[] {
  return others
    .filter(({ database }) => first && !isSameDatabase(first.database, database))
    .map(({ setting }) =>
      failure(
        `${setting} leads to another database than ${first?.setting}: name the same server and database in both.`,
      ),
    );
}

/** A standby of the same database has the same identifiers; another server or database has not. */
function isSameDatabase(one: DatabaseIdentity, other: DatabaseIdentity): boolean {
  const knowBoth = one.server !== undefined && other.server !== undefined;
  return one.database === other.database && (!knowBoth || one.server === other.server);
}

/** A newer schema is a warning, an older one is what the job is for. */
async function checkVersion(database: Queries, schema: string, known: number): Promise<readonly Finding[]> {
  const version = await appliedVersion(database, schema);
  if (version <= known) return [];
  return [
    warning(
      `The schema ${schema} has version ${version} and this image knows ${known}: it stays as it is; go on only if you mean to run the older version.`,
    ),
  ];
}
