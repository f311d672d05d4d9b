// The two reads of the resource API (specification §2, §4). Only GET is retried, with bounded exponential back-off and
// full jitter (specification §7), and not before Retry-After.
import * as z from 'zod';
import type { AccessTokens } from './access-tokens.ts';
import { PartnerFailure } from './failure.ts';
import { type Fetch, retryAfterMs } from './provider.ts';
import type { Identity } from './sessions.ts';

const eventSummary = z.object({
  id: z.string(),
  name: z.string(),
  startDate: z.string().nullable(),
  endDate: z.string().nullable(),
  updatedAt: z.string().nullable(),
  designCount: z.number(),
});

const designSummary = z.object({
  id: z.string(),
  localId: z.string().nullable(),
  eventId: z.string(),
  title: z.string(),
  eventName: z.string(),
  eventDate: z.string().nullable(),
  updatedAt: z.string().nullable(),
  authorName: z.string().nullable(),
  shortDescr: z.string(),
});

const eventList = z.object({ items: z.array(eventSummary) });
const designList = z.object({ event: eventSummary, items: z.array(designSummary) });

export type EventSummary = z.infer<typeof eventSummary>;
export type DesignSummary = z.infer<typeof designSummary>;

interface DesignApiDeps {
  readonly issuer: string;
  readonly fetch: Fetch;
  readonly accessTokens: AccessTokens;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** From 0 to 1, for the jitter of the back-off. */
  readonly random: () => number;
}

const attempts = 4;
const firstDelayMs = 250;
const longestDelayMs = 2_000;
const longestRetryAfterMs = 5_000;
const timeoutMs = 10_000;

export function createDesignApi(deps: DesignApiDeps) {
  return {
    events: async (identity: Identity) => parse(eventList, await read(deps, identity, '/api/events')).items,
    /** `eventId` is copied unchanged. Throws `not_found` when it is not the user's. */
    designs: async (identity: Identity, eventId: string) => {
      const path = `/api/events/${encodeURIComponent(eventId)}/designs`;
      return parse(designList, await read(deps, identity, path));
    },
  };
}

async function read(deps: DesignApiDeps, identity: Identity, path: string): Promise<unknown> {
  const token = await deps.accessTokens.current(identity);
  const first = await getWithBackOff(deps, path, token);
  if (first.status !== 401) return bodyOf(first);
  // Refresh once. Only a new authorization can help if the new token is refused.
  const fresh = await deps.accessTokens.refresh(identity, token);
  const second = await getWithBackOff(deps, path, fresh);
  if (second.status === 401) throw new PartnerFailure('reconnect');
  return bodyOf(second);
}

async function getWithBackOff(deps: DesignApiDeps, path: string, token: string): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await get(deps, path, token);
    if (response && response.status < 500) return response;
    const askedMs = response ? retryAfterMs(response) : 0;
    if (attempt === attempts || askedMs > longestRetryAfterMs) throw new PartnerFailure('unavailable');
    const ceiling = Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1));
    await deps.sleep(Math.max(askedMs, deps.random() * ceiling));
  }
}

async function get(
  { fetch, issuer }: DesignApiDeps,
  path: string,
  token: string,
): Promise<Response | undefined> {
  try {
    return await fetch(new URL(path, issuer).href, {
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

function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const { data, error } = schema.safeParse(body);
  if (data === undefined) throw new PartnerFailure('unavailable', { cause: error });
  return data;
}
