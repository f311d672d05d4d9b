// How the services behave under load: latency at half of what they carry, goodput and grants at ten times as much, lists for
// many readers, and refreshes beside readers of long lists. What is compared takes turns, round by round.
import { setTimeout as sleep } from 'node:timers/promises';
import { readLists } from '../support/load/lists.ts';
import type { CourseExchange } from './course-exchange.ts';
import { closedLoop, median, openLoop, percentile } from './load.ts';
import { type Spread, spreadOf } from './measure.ts';
import { type Subject, several, type Work } from './subject.ts';

const rounds = 3;

export interface Latency {
  readonly p50: number;
  readonly p99: number;
}

function latencyOf(sorted: readonly number[]): Latency {
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99) };
}

/** Milliseconds at half of `saturation`, which is in requests a second. */
export async function latencyAtHalf({ ask }: Work, saturation: number): Promise<Latency> {
  const { latencies } = await openLoop({ perSecond: saturation / 2, ms: 4_000, lanes: 64 }, ask);
  return latencyOf(latencies);
}

export interface Overload {
  readonly connections: number;
  readonly offered: number;
  /** Answers with 200 in a second, in parts of what a closed loop of 64 gets in the same round. */
  readonly goodput: Spread;
  readonly capacity: Spread;
  /** Answers by status; 0: none came in time. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Due while all connections waited, and never sent. */
  readonly unsent: number;
  /** Families that were refused, and whose token was spent all the same. */
  readonly lostGrants: number;
}

const overloadMs = 5_000;

/** Gives each lane a token that is current: an answer that never came may have spent the last one. */
async function renewAll({ ask, renew }: Work, lanes: number): Promise<void> {
  let next = 0;
  await several(lanes, async () => {
    const lane = next++;
    if ((await ask(lane).catch(() => 0)) !== 200) await renew?.(lane);
  });
}

/** Offers ten times as many refreshes as a closed loop of 64 gets, then sends every refused token again. */
export async function overload(subject: Subject, connections: number): Promise<Overload> {
  const work = await subject.prepare('refresh', connections);
  if (!work) throw new Error(`${subject.name} does not refresh`);
  const [capacities, goodputs]: [number[], number[]] = [[], []];
  const statuses: Record<string, number> = {};
  let [offered, unsent, lostGrants] = [0, 0, 0];
  for (let round = 0; round < rounds; round += 1) {
    await renewAll(work, connections);
    const { perSecond } = await closedLoop(64, work.ask, { ms: overloadMs }, work.renew);
    const burst = await offer(work, { perSecond: perSecond * 10, ms: overloadMs, lanes: connections });
    offered = Math.max(offered, perSecond * 10);
    capacities.push(perSecond);
    goodputs.push(burst.inTime / (overloadMs / 1_000) / perSecond);
    for (const [status, count] of burst.statuses) statuses[status] = (statuses[status] ?? 0) + count;
    unsent += burst.unsent;
    lostGrants += burst.lostGrants;
  }
  const [goodput, capacity] = [spreadOf(goodputs), spreadOf(capacities)];
  return { connections, offered, goodput, capacity, statuses, unsent, lostGrants };
}

async function offer({ ask }: Work, load: Parameters<typeof openLoop>[0]) {
  const last = new Map<number, number>();
  const unanswered = new Set<number>();
  const end = performance.now() + load.ms;
  let inTime = 0;
  const { statuses, unsent } = await openLoop(load, ask, (lane, status) => {
    last.set(lane, status);
    if (status === 0) unanswered.add(lane);
    if (status === 200 && performance.now() <= end) inTime += 1;
  });
  await sleep(1_000);
  // Where no answer came the grant is lost by rule (specification §3); a refusal consumes nothing.
  const refused = [...last].filter(([lane, status]) => status >= 400 && !unanswered.has(lane));
  let lostGrants = 0;
  for (const [lane] of refused) if ((await answerOf(ask, lane)) === 400) lostGrants += 1;
  return { statuses, unsent, inTime, lostGrants };
}

/** Of a refresh that is sent again while there is no room for it. */
async function answerOf(ask: Work['ask'], lane: number): Promise<number> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const status = await ask(lane).catch(() => 0);
    if (status !== 503) return status;
    await sleep(250);
  }
  throw new Error('a refused refresh was refused for five seconds');
}

export interface Lists {
  readonly readers: number;
  readonly impatient: boolean;
  /** Lists in a second, in parts of what 8 readers get in the same round. */
  readonly throughput: Spread;
  /** Medians, ms. */
  readonly listMs: number;
  readonly refusalMs: number;
  readonly refusals: number;
}

/** Lists of 2,000 Events, for 8 readers and for 96, who wait as long as a refusal says or ask again at once. */
export async function listsAtOnce({ stack: { issuer }, accessToken }: CourseExchange): Promise<Lists[]> {
  const reader = { issuer, accessToken: await accessToken('2,000 events'), forMs: 4_000 };
  const kinds = [false, true].map((impatient) => ({ readers: 96, impatient }));
  const results = kinds.map((kind) => ({
    kind,
    throughput: [] as number[],
    list: [] as number[],
    refusal: [] as number[],
  }));
  await readLists({ ...reader, readers: 8 });
  for (let round = 0; round < rounds; round += 1) {
    const few = await readLists({ ...reader, readers: 8 });
    for (const { kind, throughput, list, refusal } of results) {
      const { perSecond, listMs, refusalMs } = await readLists({ ...reader, ...kind });
      throughput.push(perSecond / few.perSecond);
      list.push(...listMs);
      refusal.push(...refusalMs);
    }
  }
  return results.map(({ kind, throughput, list, refusal }) => ({
    ...kind,
    throughput: spreadOf(throughput),
    listMs: median(list),
    refusalMs: median(refusal),
    refusals: refusal.length,
  }));
}

export interface HeadOfLine {
  readonly alone: Latency;
  readonly besideReaders: Latency;
  readonly samples: number;
}

const refreshesPerSecond = 150;
const headOfLineMs = 3_000;
const headOfLineRounds = 5;

/** Refreshes at a low rate, alone and beside four readers of 2,000 events who never pause: 2,250 of each. */
export async function headOfLine(subject: Subject): Promise<HeadOfLine | undefined> {
  const [refresh, list] = [await subject.prepare('refresh', 64), await subject.prepare('events2000', 4)];
  if (!refresh || !list) return undefined;
  await renewAll(refresh, 64);
  const load = { perSecond: refreshesPerSecond, ms: headOfLineMs, lanes: 64 };
  // Connections of the refreshes are apart from those of the readers.
  const reading = (lane: number) => list.ask(1_000 + lane);
  const [alone, beside]: [number[], number[]] = [[], []];
  const refreshes = async () => {
    const { latencies, statuses } = await openLoop(load, refresh.ask);
    const failed = [...statuses].filter(([status]) => status !== 200);
    if (failed.length > 0) throw new Error(`refreshes at a low rate ended with ${failed.join(', ')}`);
    return latencies;
  };
  for (let round = 0; round < headOfLineRounds; round += 1) {
    alone.push(...(await refreshes()));
    const readers = closedLoop(4, reading, { ms: headOfLineMs + 500 });
    // It may fail before anybody waits for it.
    readers.catch(() => {});
    await sleep(250);
    beside.push(...(await refreshes()));
    await readers;
  }
  const of = (times: readonly number[]) => latencyOf(times.toSorted((one, other) => one - other));
  return { alone: of(alone), besideReaders: of(beside), samples: Math.min(alone.length, beside.length) };
}
