// Why Postgres let nobody in, as a sentence for the operator: what to do, and in which setting.
import { findSentence, networkProblem, type Sentences } from '../process/network-errors.ts';

/** What a connection was tried with. Nothing of it opens anything. */
export interface PostgresTarget {
  /** The setting that holds the address, such as POSTGRES_URL. */
  readonly setting: string;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

export function serverName({ host, port }: PostgresTarget): string {
  return `Postgres at ${host}:${port}`;
}

/** What makes the roles and their rights. */
export function rolesScript(database: string): string {
  return `run deploy/postgres/roles.sql in the database ${database}, as superuser or as its owner with CREATEROLE`;
}

/** It drops or refuses the parameters that a service starts a connection with. */
export function poolerText(target: PostgresTarget): string {
  return `${serverName(target)} does not take the parameters of a connection, as a connection pooler does: name the server itself in ${target.setting}.`;
}

/** By SQLSTATE, and by the message where Postgres or its driver gives one code to several causes, or none. */
const sentences: Sentences = {
  '^ENOENT ': 'A file that {setting} names (sslrootcert, sslcert or sslkey) is missing: mount it',
  '^28P01 ':
    '{server} refuses the password of {user}: set the password of {setting} ({passwordSetting}) or alter the role',
  '^3D000 ': '{server} has no database {database}: create it, or correct the name in {setting}',
  '^42501 ': '{server} does not let {user} into the database {database}: {script}',
  '^53300 ':
    "{server} has no connection left: raise max_connections or lower the services' POSTGRES_POOL_SIZE",
  '^57P0[123] ': '{server} is starting or stopping: wait until it takes connections, then run the job again',
  'no encryption|SSL off|requires? SSL|insecure':
    '{server} takes only connections with TLS: add sslmode=verify-full and sslrootcert to {setting}',
  'does not support SSL':
    '{server} speaks no TLS, which sslmode in {setting} asks for: turn it on at the server, or name the right port',
  'pg_hba\\.conf': '{server} does not let {user} into {database} from here: add a line to its pg_hba.conf',
  'not permitted to log in': '{server} does not let {user} log in: alter the role with LOGIN',
  'role .* does not exist': '{server} has no role {user}: {script}',
  'password must be a': '{server} asks for a password of {user}: set {passwordSetting}',
};

/** One sentence, without the server's own words: they may quote what was sent. */
export function errorText(error: unknown, target: PostgresTarget): string {
  const { code = '', message = '' } = error as { readonly code?: unknown; readonly message?: string };
  if (message.includes('unsupported startup parameter')) return poolerText(target);
  const { setting, host: hosts, user, database } = target;
  const values = {
    product: 'Postgres',
    hosts,
    server: serverName(target),
    setting,
    trust: `name its authority by sslrootcert in ${setting}`,
    user,
    database,
    script: rolesScript(database),
    // It takes precedence over the password in the URL.
    passwordSetting: setting.replace(/_URL$/, '_PASSWORD'),
  };
  const timeout = /timeout|timed out|terminated/i.test(message) ? 'timeout' : '';
  const sentence =
    networkProblem(String(code), values) ??
    findSentence(sentences, `${code} ${message}`, values) ??
    networkProblem(timeout, values);
  if (sentence) return `${sentence}.`;
  const known = code === '' ? '' : ` (${code})`;
  return `${values.server} cannot be used by ${user}${known}: look at the server's log and at ${setting}.`;
}
