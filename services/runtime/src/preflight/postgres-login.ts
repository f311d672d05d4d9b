// One connection to Postgres as a job's check makes it: open, or the sentence that says why not.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ConfigurationError } from '../env.ts';
import type { Queries } from '../postgres.ts';
import { type Finding, failure } from './checks.ts';
import { type PostgresTarget, sentenceOfPostgres } from './postgres-faults.ts';

export interface Login extends Queries {
  readonly target: PostgresTarget;
  readonly close: () => Promise<void>;
}

export interface LoginAttempt {
  /** The setting that the address stands in. */
  readonly setting: string;
  /** Throws when a file that it names cannot be read. */
  readonly config: () => pg.ClientConfig;
  /** The role that the login must be, or be a member of. */
  readonly role: string;
  /** Schema that unqualified names are looked up in. */
  readonly schema: string;
  /** A standby will do. */
  readonly readOnly?: boolean;
}

export interface Logins {
  /** Those that came about, by setting. */
  readonly open: ReadonlyMap<string, Login>;
  readonly findings: readonly Finding[];
  readonly close: () => Promise<void>;
}

/** Pauses before another try of a connection that broke or never stood: the network of a new pod may need them (ms). */
const pauses: readonly number[] = [500, 1_500];

/** Tries each attempt once; a connection that broke, three times. */
export async function openLogins(attempts: readonly LoginAttempt[]): Promise<Logins> {
  const open = new Map<string, Login>();
  const findings: Finding[] = [];
  for (const attempt of attempts) {
    const login = await logIn(attempt);
    if ('kind' in login) {
      findings.push(login);
      continue;
    }
    open.set(attempt.setting, login);
    findings.push(...(await judge(login, attempt)));
  }
  findings.push(...(await sameDatabase([...open.values()])));
  const close = async () => {
    await Promise.all([...open.values()].map((login) => login.close()));
  };
  return { open, findings, close };
}

async function logIn(attempt: LoginAttempt, waits = pauses): Promise<Login | Finding> {
  const { setting, config, schema } = attempt;
  let target: PostgresTarget = { setting, host: 'an unknown host', port: 5432, user: '', database: '' };
  try {
    const client = new pg.Client({
      ...config(),
      connectionTimeoutMillis: 5_000,
      statement_timeout: 5_000,
      application_name: 'preflight',
      options: `-c search_path=${schema}`,
    });
    const { host, port, user = '', database = '' } = client;
    target = { setting, host, port, user, database };
    // A connection lost between two checks fails the next query; unheard, it would end the process.
    client.on('error', () => {});
    await client.connect();
    return {
      target,
      query: async ({ text }, values) => (await client.query({ text, values: [...values] })).rows,
      close: () => client.end(),
    };
  } catch (error) {
    if (error instanceof ConfigurationError) return failure(`${error.mistakes.join('; ')}.`);
    const [pause, ...later] = waits;
    if (pause !== undefined && isPassing(error)) {
      await sleep(pause);
      return logIn(attempt, later);
    }
    return failure(sentenceOfPostgres(error, target));
  }
}

/** A fault of the way there, or of a server that is about to come: it may be gone at the next try. */
function isPassing(error: unknown): boolean {
  const code = (error as { readonly code?: string }).code;
  return code === undefined || /^(EAI_AGAIN|ECONN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE|57P03)/.test(code);
}

const whoAndWhere = {
  name: 'who and where',
  text: `select session_user as "user", pg_is_in_recovery() as standby,
    exists (select from pg_roles where rolname = $1) as known,
    coalesce((select pg_has_role(session_user, oid, 'member') from pg_roles where rolname = $1), false) as member`,
};

async function judge(login: Login, { setting, role, readOnly }: LoginAttempt): Promise<readonly Finding[]> {
  const { host, port } = login.target;
  const [found] = await login.query<{ user: string; standby: boolean; known: boolean; member: boolean }>(
    whoAndWhere,
    [role],
  );
  if (!found) return [];
  const findings: Finding[] = [];
  // A role that is not there at all is the finding of the check of roles.
  if (found.known && !found.member)
    findings.push(
      failure(
        `${setting} logs in as ${found.user}, which is not ${role} and no member of it: name ${role} there.`,
      ),
    );
  if (found.standby && !readOnly)
    findings.push(failure(`Postgres at ${host}:${port} is a standby: name the primary in ${setting}.`));
  return findings;
}

/** A standby of the same database has the same identifier; another server or database has not. */
async function sameDatabase(logins: readonly Login[]): Promise<readonly Finding[]> {
  const [first, ...others] = logins;
  if (!first) return [];
  const identified = await identityOf(first);
  const findings: Finding[] = [];
  for (const other of others) {
    if ((await identityOf(other)) === identified) continue;
    findings.push(
      failure(
        `${other.target.setting} leads to another database than ${first.target.setting}: name the same server and database in both.`,
      ),
    );
  }
  return findings;
}

const identifier = {
  name: 'database identifier',
  text: `select (select system_identifier from pg_control_system())::text || ' ' || oid as identifier
    from pg_database where datname = current_database()`,
};

async function identityOf(login: Login): Promise<string | undefined> {
  // A server that keeps its identifier to itself leaves the comparison out.
  const rows = await login.query<{ identifier: string }>(identifier, []).catch(() => []);
  return rows[0]?.identifier;
}
