// The two reads of the resource API (specification §4). Only GET is ever tried again, a bounded number of
// times, with exponential back-off and full jitter (specification §7).
import type { AccessTokens } from './access-tokens.ts';
import { type DesignSummary, type EventSummary, readDesigns, readEvents } from './design-summaries.ts';
import type { Fetch } from './outgoing.ts';
import { PartnerFailure } from './partner-failure.ts';
import type { Identity } from './store/sessions.ts';

export interface DesignApi {
  readonly events: (identity: Identity) => Promise<readonly EventSummary[]>;
  /** `eventId` is copied unchanged from an EventSummary. Throws `not_found` when it is not the user's. */
  readonly designs: (
    identity: Identity,
    eventId: string,
  ) => Promise<{ readonly event: EventSummary; readonly items: readonly DesignSummary[] }>;
}

export interface DesignApiOptions {
  readonly issuer: string;
  readonly fetch: Fetch;
  readonly accessTokens: AccessTokens;
  /** Waits that many milliseconds. */
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** From 0 to 1. */
  readonly random: () => number;
}

const attempts = 4;
const firstDelayMs = 250;
const longestDelayMs = 2_000;
const timeoutMs = 10_000;

export function createDesignApi(options: DesignApiOptions): DesignApi {
  const { issuer, accessTokens } = options;

  const read = async (identity: Identity, path: string): Promise<unknown> => {
    const token = await accessTokens.current(identity);
    const first = await getWithBackOff(options, new URL(path, issuer), token);
    if (first.status !== 401) return bodyOf(first);
    // invalid_token: refresh once. If the new token is refused too, only a new authorization can help.
    const fresh = await accessTokens.refresh(identity, token);
    const second = await getWithBackOff(options, new URL(path, issuer), fresh);
    if (second.status === 401) throw new PartnerFailure('reconnect');
    return bodyOf(second);
  };

  return {
    events: async (identity) => readEvents(await read(identity, '/api/events')),
    designs: async (identity, eventId) =>
      readDesigns(await read(identity, `/api/events/${encodeURIComponent(eventId)}/designs`)),
  };
}

async function getWithBackOff(options: DesignApiOptions, url: URL, token: string): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await get(options.fetch, url, token);
    if (response && response.status < 500) return response;
    if (attempt === attempts) throw new PartnerFailure('unavailable');
    const ceiling = Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1));
    await options.sleep(options.random() * ceiling);
  }
}

async function get(fetch: Fetch, url: URL, token: string): Promise<Response | undefined> {
  try {
    return await fetch(url.href, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    });
  } catch {
    return undefined;
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  if (response.status === 404) throw new PartnerFailure('not_found');
  if (response.status !== 200) throw new PartnerFailure('unavailable');
  return response.json().catch((cause) => {
    throw new PartnerFailure('unavailable', { cause });
  });
}
