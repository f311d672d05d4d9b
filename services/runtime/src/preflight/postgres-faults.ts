// Why Postgres let nobody in, as a sentence for the operator: what to do, and in which setting.

/** What a connection was tried with. Nothing of it opens anything. */
export interface PostgresTarget {
  /** The setting that holds the address, such as POSTGRES_URL. */
  readonly setting: string;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** What makes the roles and their rights. */
export function rolesScript(database: string): string {
  return `run deploy/postgres/roles.sql in the database ${database}, as superuser or as its owner with CREATEROLE`;
}

/** In the place of the server: it drops or refuses the parameters that a service starts a connection with. */
export const poolerSentence: Sentence = ({ setting }, where) =>
  `${where} does not take the parameters of a connection, as a connection pooler does: name the server itself in ${setting}`;

type Sentence = (target: PostgresTarget, where: string) => string;

const untrusted: Sentence = ({ setting }, where) =>
  `${where} shows a certificate that is not trusted: name its authority by sslrootcert in ${setting}`;
const unreachable: Sentence = ({ setting }, where) =>
  `${where} does not answer: correct host and port in ${setting}, or open the way to it`;
const refused: Sentence = ({ user, setting }, where) =>
  `${where} refuses the password of ${user}: set the password of ${setting} (${besides(setting)}) or alter the role`;
const busy: Sentence = (_, where) =>
  `${where} has no connection left: raise max_connections or lower the services' POSTGRES_POOL_SIZE`;
const notReady: Sentence = (_, where) =>
  `${where} is starting or stopping: wait until it takes connections, then run the job again`;
const unknownHost: Sentence = ({ setting, host }) =>
  `The name ${host} of ${setting} is not known to DNS: correct the host`;

/** SQLSTATEs of Postgres, and codes of Node's sockets and TLS. */
const byCode: Readonly<Record<string, Sentence>> = {
  ENOTFOUND: unknownHost,
  EAI_AGAIN: ({ host, setting }) =>
    `DNS does not answer for ${host} of ${setting}: look at the cluster's DNS, then run the job again`,
  ECONNREFUSED: ({ setting }, where) =>
    `${where} refuses connections: start Postgres, or correct host and port in ${setting}`,
  ETIMEDOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ECONNRESET: unreachable,
  ENOENT: ({ setting }) =>
    `A file that ${setting} names (sslrootcert, sslcert or sslkey) is missing: mount it`,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ setting, host }, where) =>
    `${where} shows a certificate for another name than ${host}: use the name in the certificate in ${setting}`,
  CERT_HAS_EXPIRED: (_, where) => `The certificate of ${where} has expired: renew it`,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  '28P01': refused,
  '3D000': ({ database, setting }, where) =>
    `${where} has no database ${database}: create it, or correct the name in ${setting}`,
  '42501': ({ database, user }, where) =>
    `${where} does not let ${user} into the database ${database}: ${rolesScript(database)}`,
  '53300': busy,
  '57P01': notReady,
  '57P02': notReady,
  '57P03': notReady,
};

/** Where Postgres or its driver gives one code to several causes, or none. */
const byMessage: readonly (readonly [RegExp, Sentence])[] = [
  [
    /no encryption|SSL off|requires? SSL|insecure/i,
    ({ setting }, where) =>
      `${where} takes only connections with TLS: add sslmode=verify-full and sslrootcert to ${setting}`,
  ],
  [
    /does not support SSL/i,
    ({ setting }, where) =>
      `${where} speaks no TLS, which sslmode in ${setting} asks for: turn it on at the server, or name the right port`,
  ],
  [
    /pg_hba\.conf/,
    ({ user, database }, where) =>
      `${where} does not let ${user} into ${database} from here: add a line to its pg_hba.conf`,
  ],
  [
    /not permitted to log in/,
    ({ user }, where) => `${where} does not let ${user} log in: alter the role with LOGIN`,
  ],
  [
    /role .* does not exist/,
    ({ user, database }, where) => `${where} has no role ${user}: ${rolesScript(database)}`,
  ],
  [
    /password must be a/,
    ({ setting, user }, where) => `${where} asks for a password of ${user}: set ${besides(setting)}`,
  ],
  [/unsupported startup parameter/, poolerSentence],
  [/timeout|timed out|terminated/i, unreachable],
];

/** One sentence, without the server's own words: they may quote what was sent. */
export function sentenceOfPostgres(error: unknown, target: PostgresTarget): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: string };
  const where = whereIs(target);
  const sentence =
    byCode[String(code)] ?? byMessage.find(([words]) => words.test(message ?? ''))?.[1] ?? undefined;
  if (sentence) return `${sentence(target, where)}.`;
  const known = typeof code === 'string' ? ` (${code})` : '';
  return `${where} cannot be used by ${target.user}${known}: look at the server's log and at ${target.setting}.`;
}

export function whereIs({ host, port }: PostgresTarget): string {
  return `Postgres at ${host}:${port}`;
}

/** POSTGRES_URL → POSTGRES_PASSWORD, the setting that takes the place of the password in it. */
function besides(setting: string): string {
  return setting.replace(/_URL$/, '_PASSWORD');
}
