// One connection to Postgres for each account, as a job's check makes it: open and judged, or the sentence that says why
// not.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ConfigurationError } from '../env.ts';
import type { Queries } from '../postgres.ts';
import { connectionConfig, endConnection } from '../postgres-connections.ts';
import type { PostgresAccess } from '../postgres-settings.ts';
import { type Finding, failure } from './checks.ts';
import { isFaultOfTheWay, pauses } from './passing-faults.ts';
import { type AccountRules, judgeAccount, type LoginRules } from './postgres-account.ts';
import { type PostgresTarget, sentenceOfPostgres } from './postgres-faults.ts';
import { differ, type Place, readPlace } from './postgres-place.ts';

export interface Login extends Queries {
  readonly target: PostgresTarget;
}

export interface LoginAttempt extends AccountRules {
  readonly access: PostgresAccess;
}

export interface Logins {
  /** Those that came about, by setting. */
  readonly open: ReadonlyMap<string, Login>;
  readonly findings: readonly Finding[];
  readonly close: () => Promise<void>;
}

interface Opened {
  readonly login: Login;
  readonly place: Place;
  readonly findings: readonly Finding[];
  readonly client: pg.Client;
}

/** How long a connection, and each query, may take (ms). */
const patienceMs = 5_000;

/** Tries each attempt once; a connection that broke, three times. */
export async function openLogins(attempts: readonly LoginAttempt[], rules: LoginRules): Promise<Logins> {
  const opened: Opened[] = [];
  const findings: Finding[] = [];
  for (const attempt of attempts) {
    const outcome = await logIn(attempt, rules);
    if ('kind' in outcome) findings.push(outcome);
    else {
      opened.push(outcome);
      findings.push(...outcome.findings);
    }
  }
  return {
    open: new Map(opened.map(({ login }) => [login.target.setting, login])),
    findings: [...findings, ...otherDatabases(opened)],
    close: async () => {
      await Promise.all(opened.map(({ client }) => endConnection(client)));
    },
  };
}

async function logIn(attempt: LoginAttempt, rules: LoginRules, waits = pauses): Promise<Opened | Finding> {
  const { setting } = attempt.access;
  let target: PostgresTarget = { setting, host: 'an unknown host', port: 5432, user: '', database: '' };
  let client: pg.Client | undefined;
  try {
    client = new pg.Client(configOf(attempt));
    const { host, port, user = '', database = '' } = client;
    target = { setting, host, port, user, database };
    return await enter(client, target, attempt, rules);
  } catch (error) {
    if (client) await endConnection(client);
    if (error instanceof ConfigurationError) return failure(`${error.mistakes.join('; ')}.`);
    const [pause, ...later] = waits;
    if (pause !== undefined && isPassing(error)) {
      await sleep(pause);
      return logIn(attempt, rules, later);
    }
    return failure(sentenceOfPostgres(error, target));
  }
}

/** Starts as a service does: what refuses its parameters, as poolers do, is found here. */
function configOf({ access, schema, readOnly = false }: LoginAttempt): pg.ClientConfig {
  return {
    ...connectionConfig({
      url: access,
      applicationName: 'preflight',
      statementTimeoutMs: patienceMs,
      schema,
      readOnly,
    }),
    connectionTimeoutMillis: patienceMs,
  };
}

async function enter(
  client: pg.Client,
  target: PostgresTarget,
  attempt: LoginAttempt,
  rules: LoginRules,
): Promise<Opened> {
  // A connection lost between two checks fails the next query; unheard, it would end the process.
  client.on('error', () => {});
  await client.connect();
  const login: Login = {
    target,
    query: async ({ text }, values) => (await client.query({ text, values: [...values] })).rows,
  };
  const findings = await judgeAccount(login, target, attempt, rules);
  return { login, client, findings, place: await readPlace(login) };
}

/** A fault of the way there, or of a server that is about to come: it may be gone at the next try. */
function isPassing(error: unknown): boolean {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (code === undefined) return message !== 'Query read timeout';
  return isFaultOfTheWay(code) || code === '57P03';
}

function otherDatabases([first, ...others]: readonly Opened[]): readonly Finding[] {
  return others
    .filter((other) => first && differ(first.place, other.place))
    .map(({ login }) =>
      failure(
        `${login.target.setting} leads to another database than ${first?.login.target.setting}: name the same server and database in both.`,
      ),
    );
}
