// What keeps a job from a store: which faults may pass by themselves, and a sentence on each for the operator.
import { setTimeout as sleep } from 'node:timers/promises';

/** What the sentences on a store name. Nothing of it opens anything. */
export interface StoreAddress {
  /** `Postgres`. */
  readonly product: string;
  readonly hosts: string;
  /** `Postgres at db.example:5432`. */
  readonly server: string;
  /** The setting that holds the address. */
  readonly setting: string;
  /** How the authority of its certificate is named: the end of a sentence. */
  readonly trust: string;
}

/** By pattern: sentences without their full stop, with `{name}` in the place of a value. */
export type Sentences = Readonly<Record<string, string>>;

/** The first sentence whose pattern finds `fault`, with its values; undefined when none does. */
export function findSentence(
  sentences: Sentences,
  fault: string,
  values: Readonly<Record<string, unknown>>,
): string | undefined {
  const found = Object.entries(sentences).find(([pattern]) => new RegExp(pattern, 'i').test(fault));
  return found?.[1].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** By the code of Node's sockets, resolver or TLS; `timeout` for one that a driver tells in words. */
const sentences: Sentences = {
  '^ENOTFOUND$': 'The name {hosts} of {setting} is not known to DNS: correct the host',
  '^EAI_AGAIN$':
    "DNS does not answer for {hosts} of {setting}: look at the cluster's DNS, then run the job again",
  '^ECONNREFUSED$': '{server} refuses connections: start {product}, or correct host and port in {setting}',
  '^(timeout|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ECONNRESET)$':
    '{server} does not answer: correct host and port in {setting}, or open the way to it',
  '^ERR_TLS_CERT_ALTNAME_INVALID$':
    '{server} shows a certificate for another name than {hosts}: use the name in the certificate in {setting}',
  '^CERT_HAS_EXPIRED$': 'The certificate of {server} has expired: renew it',
  'SELF_SIGNED_CERT|^UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)':
    '{server} shows a certificate that is not trusted: {trust}',
};

/** Undefined for a fault that is not of the network. */
export function networkProblem(code: string, store: StoreAddress): string | undefined {
  return findSentence(sentences, code, { ...store });
}

/** By the code of Node's sockets or resolver. */
export function isNetworkError(code: string): boolean {
  return /^(EAI_AGAIN|ECONN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE)/.test(code);
}

/** Pauses before another try (ms). */
const retryDelays: readonly number[] = [500, 1_500];

/** Runs `attempt`, and twice more while it fails with what `mayPass` by itself. Throws what the last try did. */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  mayPass: (error: unknown) => boolean,
): Promise<T> {
  for (const pause of retryDelays) {
    try {
      return await attempt();
    } catch (error) {
      if (!mayPass(error)) throw error;
    }
    await sleep(pause);
  }
  return attempt();
}
