// The records of refusals (R34.1). They are written behind the answer, in batches, from a bounded queue: nothing waits
// for it (R34.3); a record that finds it full, or Postgres down, is lost and counted. Old ones are deleted;
// operators read.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { describeError, type Logger } from '@course-exchange/runtime/process/logger';
import { outsideRequests } from '@course-exchange/runtime/process/request-context';
import type { ClientId } from '../ids.ts';
import { identityMetrics } from '../metrics.ts';
import type { RefusalReason, RefusalRecord } from './reasons.ts';
import { type ListedRefusal, listRefusals, type RefusalFilter, type RefusalPage } from './refusal-table.ts';

/** `clientId`: registered. `claimedClientId`: unverified. */
type Refused = Omit<RefusalRecord, 'at' | 'clientId'> & {
  readonly clientId: string | undefined;
  readonly claimedClientId: string | undefined;
  /** The caller's. */
  readonly network: string | undefined;
};

/** Returns at once. */
type RecordRefusal = (refused: Refused) => void;

export type RefusalQueue = ReturnType<typeof createRefusalQueue>;

export interface RefusalQueueDeps {
  readonly write: (records: readonly RefusalRecord[]) => Promise<void>;
  readonly now: () => number;
  readonly logger: Logger;
}

/**
 * Per minute: of each client by its secret, by its access tokens, by its name from networks that have shown its secret and
 * from others, and of all others together. Who merely names a client takes nothing from its own backend.
 */
const quotas = { secret: 1_000, bearer: 100, known: 100, claimed: 100, neither: 500 };
/** Of `claimed`, by one network: the client's users have others. The first comes beside the quota, from so many networks. */
const [mostOfNetwork, mostNetworks] = [25, 1_000];
/** Of a client; the longest unused goes. */
const mostKnownNetworks = 16;
/** Queued records: bounded so that neither one client nor strangers can take them all. */
const mostWaiting = { clients: 12_000, strangers: 4_000 };
const batchSize = 500;
const delayMs = 250;

/** An unregistered id cannot be a client secret (43 characters), a code or a token. */
const unregisteredForm = /^[A-Za-z0-9_-]{1,32}$/;

export function createRefusalQueue({ write, now, logger }: RefusalQueueDeps) {
  const { refusalRecordsLost: lost } = identityMetrics;
  for (const reason of ['quota', 'queue', 'postgres']) lost.add({ reason }, 0);
  const waiting: RefusalRecord[] = [];
  const taken = new Map<string, number>();
  const knownNetworks = new Map<string, Set<string>>();
  let minute = 0;
  let writing: Promise<void> | undefined;

  const kindOf = ({ clientId, clientAuthenticated, endpoint, network }: Refused): keyof typeof quotas => {
    // An old access token may be in other hands than its client's.
    if (clientAuthenticated) return endpoint === 'token' ? 'secret' : 'bearer';
    if (clientId === undefined) return 'neither';
    return network !== undefined && knownNetworks.get(clientId)?.has(network) ? 'known' : 'claimed';
  };

  const take = (owner: string, most: number): boolean => {
    const count = taken.get(owner) ?? 0;
    if (count < most) taken.set(owner, count + 1);
    return count < most;
  };

  const takeQuota = (kind: keyof typeof quotas, { clientId, network }: Refused, at: number): boolean => {
    const current = Math.floor(at / 60_000);
    if (current !== minute) taken.clear();
    minute = current;
    if (kind === 'claimed') {
      const own = `${clientId} in ${network}`;
      const isFirst = !taken.has(own);
      if (!take(own, mostOfNetwork)) return false;
      if (isFirst && take(`first ${clientId}`, mostNetworks)) return true;
    }
    return take(`${kind} ${clientId}`, quotas[kind]);
  };

  const writeAll = async (): Promise<void> => {
    await sleep(delayMs);
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchSize);
      await write(batch).catch((error: unknown) => {
        lost.add({ reason: 'postgres' }, batch.length);
        logger.warn('refusals not recorded', describeError(error));
      });
    }
    writing = undefined;
  };

  const record: RecordRefusal = (refused) => {
    const at = now();
    const { claimedClientId: claimed = '', clientId, clientAuthenticated, network: _, ...known } = refused;
    const kind = kindOf(refused);
    if (!takeQuota(kind, refused, at)) return lost.add({ reason: 'quota' });
    if (waiting.length >= mostWaiting[clientAuthenticated || kind === 'known' ? 'clients' : 'strangers'])
      return lost.add({ reason: 'queue' });
    const named = clientId ?? (unregisteredForm.test(claimed) ? claimed : undefined);
    waiting.push({ ...known, at, clientAuthenticated, clientId: named as ClientId | undefined });
    // Not in the request's context, whose deadline would apply to the batch.
    writing ??= outsideRequests(writeAll);
  };

  /** `network` has shown the client's secret. */
  const learnNetwork = (clientId: string, network: string): void => {
    const known = knownNetworks.get(clientId) ?? new Set();
    known.delete(network);
    known.add(network);
    for (const oldest of known) {
      if (known.size <= mostKnownNetworks) break;
      known.delete(oldest);
    }
    knownNetworks.set(clientId, known);
  };

  return { record, learnNetwork, flush: async (): Promise<void> => writing };
}

const cleanEveryMs = 60_000;

/** `clean`: deletes what is too old. Until `signal` aborts. */
export async function keepCleaning(
  clean: () => Promise<unknown>,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clean().catch((error: unknown) => logger.warn('refusals not cleaned', describeError(error)));
    await sleep(cleanEveryMs, undefined, { signal }).catch(() => {});
  }
}

// Builds before version 0.2.0 stored sentences. Goes after that version: a record is kept for seven days.
const sentences: Readonly<Record<string, RefusalReason>> = {
  'a parameter came twice': 'repeated_parameter',
  PKCE: 'pkce_challenge',
  'state too long, or not UTF-8': 'state_too_long_or_not_utf8',
  'nonce too long, or not UTF-8': 'nonce_too_long_or_not_utf8',
  'prompt=none, and login is to be asked': 'prompt_none_login',
  'prompt=none, and account is to be asked': 'prompt_none_account',
  'prompt=none, and consent is to be asked': 'prompt_none_consent',
};
const ofEvent = /^(?:client_authentication[.]failed|access_token[.]refused) /;

function reasonOf(stored: string): string {
  const words = stored.replace(ofEvent, '').replace('.refused ', '_');
  return sentences[stored] ?? words.replaceAll(/\W+/g, '_').toLowerCase();
}

/** Newest first; `more`: others match after the last one. */
export async function findRefusals(
  { database }: { readonly database: Queries },
  filter: RefusalFilter,
  { after, limit }: RefusalPage,
): Promise<{ readonly refusals: readonly ListedRefusal[]; readonly more: boolean }> {
  const found = await listRefusals(database, filter, { after, limit: limit + 1 });
  const refusals = found.slice(0, limit).map((one) => ({ ...one, reason: reasonOf(one.reason) }));
  return { refusals, more: found.length > limit };
}
