// The bound on the refresh families of a user and client (R11.5): what an exchange makes too many ends behind its answer,
// soon after. Nothing waits for it, and nothing fails with it: what is left undone, the owner's next exchange does.
import { setTimeout as sleep } from 'node:timers/promises';
import { inMilliseconds } from '@course-exchange/rules/brand';
import { describeError, type Logger } from '@course-exchange/runtime/process/logger';
import { outsideRequests } from '@course-exchange/runtime/process/request-context';
import type { FamilyId } from '../ids.ts';
import { identityMetrics } from '../metrics.ts';
import type { RedisStore } from '../redis/connect.ts';
import type { EarlierRequest } from '../refusals/reasons.ts';
import type { EndedFamily } from '../refusals/superseded-table.ts';
import type { RequestLog } from '../request-log.ts';
import {
  endFamilies,
  type FamilyOwner,
  findBeyond,
  firstToBegin,
  listFamilies,
  readFamilies,
  sampleFamilies,
  unlistFamilies,
} from './family-bound-store.ts';
import {
  type GrantRecord,
  type NextToken,
  type Read,
  type RefreshFamily,
  type RevokedFamily,
  refreshTokenLifetime,
} from './grant-record.ts';

/** Exchanges of so long are listed together. */
const delayMs = 250;
/** Families ended for one exchange, and in one step. A lowered bound is reached by and by. */
const mostOfExchange = 10;
const mostAtOnce = 100;
/** Exchanges that wait; families of more are not listed. */
const mostWaiting = 5_000;

export interface FamilyBoundDeps extends Pick<RequestLog, 'keyedFamily' | 'observe'> {
  readonly redis: RedisStore;
  /** Families of a user and client. */
  readonly most: number;
  readonly record: (ended: readonly EndedFamily[]) => Promise<void>;
  readonly now: () => number;
  readonly logger: Logger;
}

type Family = Pick<GrantRecord, 'familyId' | 'sub' | 'clientId'>;
type ValidFamily = Read<RefreshFamily>;

const superseded = 'superseded' as const;

/** What happened to the families of one owner, and is not in their list yet. */
interface Changes {
  readonly owner: FamilyOwner;
  readonly begun: FamilyId[];
  /** Of those begun. */
  readonly exchanges: EarlierRequest[];
  readonly revoked: FamilyId[];
}

export type FamilyBound = ReturnType<typeof createFamilyBound>;

export function createFamilyBound(deps: FamilyBoundDeps) {
  const waiting = new Map<string, Changes>();
  let count = 0;
  let working: Promise<void> | undefined;

  const workOff = async (): Promise<void> => {
    while (waiting.size > 0) {
      await sleep(delayMs);
      const owners = [...waiting.values()];
      waiting.clear();
      count = 0;
      const failed = (error: unknown) =>
        deps.logger.warn('refresh families not bounded', describeError(error));
      await Promise.all(owners.map((changes) => keepBound(deps, changes).catch(failed)));
    }
    working = undefined;
  };

  const change = (owner: FamilyOwner, note: (changes: Changes) => void): void => {
    if (count >= mostWaiting) return;
    count += 1;
    const key = `${owner.sub} ${owner.clientId}`;
    const changes = waiting.get(key) ?? { owner, begun: [], exchanges: [], revoked: [] };
    note(changes);
    waiting.set(key, changes);
    working ??= outsideRequests(workOff);
  };

  return {
    /** After the exchange. Returns at once, as `revoke` does. */
    begin: (family: Family, { requestId, issuedAt }: NextToken): void =>
      change(family, ({ begun, exchanges }) => {
        begun.push(family.familyId);
        exchanges.push({ requestId, at: issuedAt });
      }),
    revoke: (family: Family): void => change(family, ({ revoked }) => revoked.push(family.familyId)),
    flush: async (): Promise<void> => working,
  };
}

async function keepBound(deps: FamilyBoundDeps, changes: Changes): Promise<void> {
  const { redis, most } = deps;
  const { owner, begun, exchanges, revoked } = changes;
  const size = await listFamilies(redis, owner, begun, revoked);
  /** The exchanges after which the owner had that many. */
  const reaching = (least: number) => exchanges.slice(Math.max(0, exchanges.length - (size - least + 1)));
  // Of none too: a new series has no increase.
  if (exchanges.length > 0)
    identityMetrics.familiesHalfFull.add({ client_id: owner.clientId }, reaching(Math.ceil(most / 2)).length);
  const tooMany = size > most ? reaching(most + 1) : [];
  for (let left = tooMany.length * mostOfExchange; left > 0; left -= mostAtOnce) {
    const atOnce = Math.min(left, mostAtOnce);
    if ((await endSome(deps, owner, tooMany, atOnce)) < atOnce) return;
  }
}

/** Returns how many were too many, `atOnce` at most. */
async function endSome(
  { redis, most, record, now, logger, keyedFamily, observe }: FamilyBoundDeps,
  owner: FamilyOwner,
  exchanges: EarlierRequest[],
  atOnce: number,
): Promise<number> {
  const { clientId, sub } = owner;
  const { over, first } = await findBeyond(redis, owner, { most, atOnce });
  const began = await readFamilies(redis, first, now());
  const others = mayHideExpired(over, began, now())
    ? await sampleFamilies(redis, owner, first.length, now())
    : [];
  const { gone, chosen } = choose(over, began, await readFamilies(redis, others, now()));
  const ended = await endFamilies(redis, chosen);
  await unlistFamilies(redis, owner, [...gone, ...ended.map(({ familyId }) => familyId)]);
  const records = ended.map((family): EndedFamily => {
    const by =
      family.kind === 'grant' ? { ...endedBy(exchanges, now), revoked: superseded } : family.revocation;
    if (by.revoked === superseded)
      observe({ event: 'grant.revoked', client: clientId, sub, reason: superseded });
    return { family: keyedFamily(family.familyId), clientId, ...by };
  });
  if (records.length > 0)
    await record(records).catch((error: unknown) =>
      logger.warn('ended refresh families not recorded', describeError(error)),
    );
  return over;
}

/** Each exchange ends one; the last one also what others left behind. */
function endedBy(exchanges: EarlierRequest[], now: () => number): EarlierRequest {
  const [exchange = { requestId: '', at: now() }] = exchanges.length > 1 ? exchanges.splice(0, 1) : exchanges;
  return exchange;
}

interface FoundFamily {
  readonly familyId: FamilyId;
  readonly family: ValidFamily | RevokedFamily | undefined;
}

function isValid(family: FoundFamily['family']): family is ValidFamily {
  return family?.kind === 'grant';
}

/** Whether more room is wanted, and one that began later may have expired: none begins before its login. */
function mayHideExpired(over: number, first: readonly FoundFamily[], now: number): boolean {
  const valid = first.map(({ family }) => family).filter(isValid);
  const lastLogin = Math.max(...valid.map(({ loggedInAt }) => loggedInAt));
  return first.length - valid.length < over && lastLogin < now - inMilliseconds(refreshTokenLifetime);
}

/** Those that no token can refresh make room first: `gone` ones, then revoked ones, then valid ones. */
function choose(over: number, first: readonly FoundFamily[], others: readonly FoundFamily[]) {
  const families = [...first, ...others];
  const revoked = families.flatMap(({ family }) => (family?.kind === 'revoked' ? [family] : []));
  const gone = families.filter(({ family }) => !family);
  const valid = first.map(({ family }) => family).filter(isValid);
  const dead = revoked.slice(0, Math.max(0, over - gone.length));
  const chosen = [...dead, ...oldestOf(valid, over - gone.length - dead.length)];
  return { gone: gone.map(({ familyId }) => familyId), chosen };
}

/** Each has the oldest current token of the ten that began first, without those before it (R11.5). */
function oldestOf(valid: readonly ValidFamily[], count: number): readonly ValidFamily[] {
  const left = [...valid];
  const oldest: ValidFamily[] = [];
  while (oldest.length < count && left.length > 0) {
    const [one] = left.slice(0, firstToBegin).sort((a, b) => a.issuedAt - b.issuedAt);
    if (one) oldest.push(...left.splice(left.indexOf(one), 1));
  }
  return oldest;
}
