// Counts clients' acts in memory, and within 20 s in Postgres, for operators (R34.4). A count may be lost; it never
// delays or fails a request.
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { describeError, type Logger } from '@course-exchange/runtime/process/logger';
import { currentCall, outsideRequests } from '@course-exchange/runtime/process/request-context';
import { type ClientContext, requireClient } from '../clients/view.ts';
import type { ClientId, SecretHash } from '../ids.ts';
import { identityMetrics } from '../metrics.ts';
import { Refusal } from '../refusals/reasons.ts';
import { type PresentedToken, sameHash } from '../secrets.ts';
import { type AuthorizationCode, labelOf } from '../token/grant-record.ts';
import { type Act, type ActCount, actsOfGrant, breachOf, judgeConduct } from './conduct.ts';
import { addConduct, readConduct } from './conduct-table.ts';

const writeAfterMs = 10_000;
/** The latest refused refresh tokens of each client. */
const mostRemembered = 1_000;

interface CountersDeps {
  readonly database: Queries;
  readonly now: () => number;
  readonly logger: Logger;
}

/** As read, before the request changed it. */
interface SeenGrant {
  readonly presented: PresentedToken | undefined;
  readonly record: Partial<AuthorizationCode> | undefined;
}

/** What it returns returns at once. `clientId` is authenticated; that of `onRequest` is registered. */
export function createConductCounters({ database, now, logger }: CountersDeps) {
  const counted = new Map<string, ActCount>();
  const refused = new Map<ClientId, Set<string>>();
  let timer: NodeJS.Timeout | undefined;

  const add = (one: ActCount): void => {
    const key = `${one.clientId} ${one.day} ${one.act}`;
    const before = counted.get(key);
    const last = before && before.lastAt > one.lastAt ? before : one;
    counted.set(key, { ...last, count: one.count + (before?.count ?? 0) });
    timer ??= outsideRequests(() => setTimeout(flush, writeAfterMs).unref());
  };

  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const counts = [...counted.values()];
    counted.clear();
    if (counts.length === 0) return;
    await addConduct(database, counts).catch((error: unknown) => {
      // They may have been written: a breach counted twice is better than none.
      for (const one of counts) add(one);
      logger.warn('conduct not recorded', describeError(error));
    });
  };

  const count = (clientId: ClientId, ...counts: readonly Act[]): void => {
    const lastAt = now();
    const day = new Date(lastAt).toISOString().slice(0, 10);
    const { requestId } = currentCall();
    for (const act of counts) {
      identityMetrics.clientActs.add({ client_id: clientId, act });
      add({ clientId, day, act, count: 1, lastAt, requestId });
    }
  };

  /** True when it was refused before. */
  const remember = (clientId: ClientId, hash: SecretHash): boolean => {
    const labels = refused.get(clientId) ?? new Set();
    const label = labelOf(hash);
    const known = labels.delete(label);
    labels.add(label);
    const [oldest = ''] = labels;
    if (labels.size > mostRemembered) labels.delete(oldest);
    refused.set(clientId, labels);
    return known;
  };

  const countRefusal = (clientId: ClientId, { presented, record }: SeenGrant, refusal: Refusal): void => {
    const wasCurrent = !!presented && !!record?.hash && sameHash(presented.hash, record.hash);
    const breach = breachOf(refusal, wasCurrent, now());
    const isToken = refusal.facts.event?.event === 'refresh_token.refused' && presented;
    const repeated = isToken && remember(clientId, presented.hash);
    if (isToken) count(clientId, 'refresh_refused');
    // The second of several to lose was sent before the first was refused.
    const act = repeated && breach !== 'refresh_concurrent' ? 'token_repeated' : breach;
    if (act) count(clientId, act);
  };

  return {
    flush,
    onRequest: (clientId: ClientId): void => count(clientId, 'authorization_request'),
    onGranted: (clientId: ClientId, { record = {} }: SeenGrant): void =>
      count(clientId, ...actsOfGrant(record)),
    onRefused: (clientId: ClientId, grant: SeenGrant, error: unknown): void => {
      if (error instanceof Refusal) countRefusal(clientId, grant, error);
    },
  };
}

/** `since`: milliseconds since the epoch. Throws `not_found`. */
export async function getConduct(context: ClientContext, clientId: string, since: number | undefined) {
  await requireClient(context.database, context, clientId);
  const totals = await readConduct(context.database, clientId, since ?? null);
  const countOf = (act: Act) => totals.find((total) => total.act === act)?.count ?? 0;
  const authorizationRequests = countOf('authorization_request');
  const requestsNeverRedeemed = Math.max(0, authorizationRequests - countOf('code_redeemed'));
  return { duties: judgeConduct(totals), authorizationRequests, requestsNeverRedeemed };
}
