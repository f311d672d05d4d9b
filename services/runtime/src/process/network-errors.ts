// What keeps a job from a store: which faults may pass by themselves, and a sentence on each for the operator.
import { setTimeout as sleep } from 'node:timers/promises';

/** What the sentences on a store name. Nothing of it opens anything. */
export interface StoreAddress {
  /** `Postgres at db.example:5432`. */
  readonly server: string;
  /** Holds the address. */
  readonly setting: string;
  /** Names the authority of its certificate. */
  readonly authority: string;
  /** What the store itself says, by its codes: the sentence after the server's name. */
  readonly refusals: Readonly<Record<string, string>>;
}

/** What drivers say in words alone, by the code that Node has for it; `timeout`: connected, and silent. */
const wordings: Readonly<Record<string, RegExp>> = {
  EPROTO: /not support SSL/,
  ETIMEDOUT: /timeout expired/,
  ECONNRESET: /terminated|closed/,
  timeout: /timed? ?out/,
  '28P01': /password must be/,
};

/** Of Node, of the store, or of the driver's wording. The rest of a message may quote what was sent. */
export function codeOf(error: unknown): string {
  const { code, message = '' } = error as { readonly code?: string; readonly message?: string };
  const [word] = /^[A-Z]{4,}\b/.exec(message) ?? [];
  const [worded] = Object.entries(wordings).find(([, wording]) => wording.test(message)) ?? [];
  return code ?? worded ?? word ?? 'no code';
}

/** One sentence on what a connection failed with. */
export function storeProblem(error: unknown, { server, setting, authority, refusals }: StoreAddress): string {
  const code = codeOf(error);
  const rest = refusals[code];
  if (rest !== undefined) return `${server} ${rest}.`;
  if (/^(ENOTFOUND|EAI_AGAIN)$/.test(code))
    return `DNS does not know the host of ${server} (${code}): correct ${setting}, or look at the cluster's DNS.`;
  if (/CERT|VERIFY/.test(code))
    return `${server} presents a certificate that does not verify (${code}): give its authority by ${authority}, and in ${setting} a host that it is for.`;
  if (/^(EPROTO|ERR_SSL_)/.test(code))
    return `${server} does not speak TLS (${code}), which ${setting} asks for: turn it on there, or correct the port.`;
  if (isNetworkError(code) || code === 'timeout')
    return `${server} does not answer (${code}): correct host, port and TLS in ${setting}, or open the network to it.`;
  return `${server} cannot be used (${code}): look at ${setting} and at its log.`;
}

/** A fault of the network, by its code: it may be gone at the next try. */
export function isNetworkError(code: string): boolean {
  return /^(EAI_AGAIN|ECONN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE)/.test(code);
}

/** Pauses before another try (ms). */
const retryDelays: readonly number[] = [500, 1_500];

/** Runs `attempt`, and twice more while it fails with what `mayPass`. Throws what the last try did. */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  mayPass: (code: string) => boolean,
): Promise<T> {
  for (const pause of retryDelays) {
    try {
      return await attempt();
    } catch (error) {
      if (!mayPass(codeOf(error))) throw error;
    }
    await sleep(pause);
  }
  return attempt();
}
