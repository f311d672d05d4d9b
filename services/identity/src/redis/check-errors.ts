// Why Redis let nobody in, as a sentence for the operator: what to do, and in which setting.
import {
  findSentence,
  networkProblem,
  type Sentences,
} from '@course-exchange/runtime/process/network-errors';
import type { RedisTarget } from './settings.ts';

/** By the code of Node's TLS, or by the first word of Redis's own error. */
const sentences: Sentences = {
  '^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$':
    '{server} speaks no TLS, which rediss:// in REDIS_URL asks for: write redis://, or name the port with TLS',
  '^ECONNRESET$': '{server} ends the connection at once: if it takes only TLS, write rediss:// in REDIS_URL',
  '^WRONGPASS$': '{server} refuses user or password: correct REDIS_USERNAME and REDIS_PASSWORD',
  '^NOAUTH$': '{server} asks for a password: set REDIS_PASSWORD',
  '^NOPERM$':
    "{server} does not permit its user what the service needs: extend the user's ACL, as docs/settings.md shows it",
  '^LOADING$': '{server} is still reading its data: wait, then run the job again',
  '^MASTERDOWN$': '{server} is a replica without its master: wait for the failover, then run the job again',
};

/** One sentence, without the server's own words: they may quote what was sent. */
export function errorText(error: unknown, { hosts, tls, sentinelMaster }: RedisTarget): string {
  const { code, message = '' } = innermost(error) as { readonly code?: string; readonly message?: string };
  const name = sentinelMaster === undefined ? 'Redis' : `Redis ${sentinelMaster} behind the Sentinels`;
  const server = `${name} at ${hosts.map(({ host, port }) => `${host}:${port}`).join(', ')}`;
  const store = {
    product: 'Redis',
    hosts: hosts.map(({ host }) => host).join(', '),
    server,
    setting: 'REDIS_URL',
    trust: 'give its authority as REDIS_TLS_CA',
  };
  const word = /^[A-Z]{4,}\b/.exec(message)?.[0] ?? '';
  const kind = code ?? (word === '' && /timed? ?out/i.test(message) ? 'timeout' : word);
  // A server without TLS waits for the end of what it takes for a command.
  if (tls && /^(timeout|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ECONNRESET)$/.test(kind))
    return `${server} does not answer by TLS: correct host and port in REDIS_URL, write redis:// if it has no TLS, or open the way to it.`;
  const sentence = findSentence(sentences, kind, store) ?? networkProblem(kind, store);
  if (sentence) return `${sentence}.`;
  return sentinelMaster === undefined
    ? `${server} cannot be used: look at its log and at REDIS_URL.`
    : `${server} is not known to them, or they do not answer: correct REDIS_URL and REDIS_SENTINEL_MASTER.`;
}

/** Sentinel and Cluster wrap what happened. */
function innermost(error: unknown): unknown {
  if (!(error instanceof Error)) return {};
  const { lastNodeError } = error as { readonly lastNodeError?: unknown };
  return lastNodeError instanceof Error ? lastNodeError : error;
}
