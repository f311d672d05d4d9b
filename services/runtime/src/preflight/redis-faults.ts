// Why Redis let nobody in, as a sentence for the operator: what to do, and in which setting.
import type { RedisPlace } from '../redis-settings.ts';

type Sentence = (where: string, place: RedisPlace) => string;

// A server without TLS waits for the end of what it takes for a command.
const unreachable: Sentence = (where, { tls }) =>
  tls
    ? `${where} does not answer by TLS: correct host and port in REDIS_URL, write redis:// if it has no TLS, or open the way to it`
    : `${where} does not answer: correct host and port in REDIS_URL, or open the way to it`;
const untrusted: Sentence = (where) =>
  `${where} shows a certificate that is not trusted: give its authority as REDIS_TLS_CA`;
const plain: Sentence = (where) =>
  `${where} speaks no TLS, which rediss:// in REDIS_URL asks for: write redis://, or name the port with TLS`;

/** By the code of Node's sockets and TLS, or by the first word of Redis's own error. */
const sentences: Readonly<Record<string, Sentence>> = {
  ENOTFOUND: (_, { hosts }) =>
    `A host of REDIS_URL is not known to DNS (${hosts.map(({ host }) => host).join(', ')}): correct it`,
  EAI_AGAIN: () =>
    `DNS does not answer for the host of REDIS_URL: look at the cluster's DNS, then run the job again`,
  ECONNREFUSED: (where) => `${where} refuses connections: start Redis, or correct host and port in REDIS_URL`,
  ETIMEDOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ECONNRESET: (where, place) =>
    place.tls
      ? unreachable(where, place)
      : `${where} ends the connection at once: if it takes only TLS, write rediss:// in REDIS_URL`,
  EPROTO: plain,
  ERR_SSL_WRONG_VERSION_NUMBER: plain,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: plain,
  ERR_TLS_CERT_ALTNAME_INVALID: (where) =>
    `${where} shows a certificate for another name: use the name in the certificate in REDIS_URL`,
  CERT_HAS_EXPIRED: (where) => `The certificate of ${where} has expired: renew it`,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  WRONGPASS: (where) => `${where} refuses user or password: correct REDIS_USERNAME and REDIS_PASSWORD`,
  NOAUTH: (where) => `${where} asks for a password: set REDIS_PASSWORD`,
  NOPERM: (where) =>
    `${where} does not permit its user what the service needs: extend the user's ACL, as docs/redis-keys.md lists it`,
  LOADING: (where) => `${where} is still reading its data: wait, then run the job again`,
  MASTERDOWN: (where) =>
    `${where} is a replica without its master: wait for the failover, then run the job again`,
};

/** One sentence, without the server's own words: they may quote what was sent. */
export function sentenceOfRedis(error: unknown, place: RedisPlace): string {
  const { code, message = '' } = innermost(error) as { readonly code?: unknown; readonly message?: string };
  const hosts = place.hosts
    .map(({ host, port }) => (port === undefined ? host : `${host}:${port}`))
    .join(', ');
  const where = `${place.sentinelMaster === undefined ? 'Redis' : `Redis ${place.sentinelMaster} behind the Sentinels`} at ${hosts}`;
  const [word = ''] = /^[A-Z]{4,}\b/.exec(message) ?? [];
  const sentence = sentences[String(code)] ?? sentences[word];
  if (sentence) return `${sentence(where, place)}.`;
  if (/timed? ?out/i.test(message)) return `${unreachable(where, place)}.`;
  if (place.sentinelMaster !== undefined)
    return `${where} is not known to them, or they do not answer: correct REDIS_URL and REDIS_SENTINEL_MASTER.`;
  return `${where} cannot be used: look at its log and at REDIS_URL.`;
}

/** Sentinel and Cluster wrap what happened. */
function innermost(error: unknown): unknown {
  if (!(error instanceof Error)) return {};
  const { lastNodeError } = error as { readonly lastNodeError?: unknown };
  return lastNodeError instanceof Error ? lastNodeError : error;
}
