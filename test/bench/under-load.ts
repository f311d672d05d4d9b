// How the services behave under load: goodput and grants at ten times what they carry, lists for many readers, and refreshes
// beside readers of long lists. What is compared takes turns, round by round. Each gives a line of the report.
import { setTimeout as sleep } from 'node:timers/promises';
import { readLists } from '../support/load.ts';
import type { CourseExchange } from './course-exchange.ts';
import * as load from './load.ts';

const rounds = 3;
const overloadMs = 5_000;

const milliseconds = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
const rate = (perSecond: number): string => `${Math.round(perSecond).toLocaleString('en')}/s`;
const percent = (part: number): string => `${Math.round(100 * part)} %`;

/** Offers ten times as many refreshes as a closed loop of 64 gets, then sends every refused token again. */
async function overload(subject: load.Subject, connections: number): Promise<string> {
  const [capacities, goodputs]: [number[], number[]] = [[], []];
  const statuses: Record<number, number> = {};
  let [unsent, lostGrants] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    const { ask } = await load.workOf(subject, 'refresh', connections);
    await load.closedLoop(64, ask, { count: connections });
    const { perSecond } = await load.closedLoop(64, ask, { ms: overloadMs });
    const last = new Map<number, number>();
    const unanswered = new Set<number>();
    let inTime = 0;
    const end = performance.now() + overloadMs;
    const tenfold = { perSecond: perSecond * 10, ms: overloadMs, lanes: connections };
    unsent += await load.openLoop(tenfold, ask, (lane, status) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      last.set(lane, status);
      if (status === 0) unanswered.add(lane);
      if (status === 200 && performance.now() <= end) inTime += 1;
    });
    capacities.push(perSecond);
    goodputs.push((inTime * 1_000) / overloadMs / perSecond);
    // Where no answer came the grant is lost by rule (specification §3); a refusal consumes nothing.
    for (const [lane, status] of last)
      if (status >= 400 && !unanswered.has(lane) && (await untilAdmitted(ask, lane)) === 400) lostGrants += 1;
  }
  return (
    `**Overload, ${connections} connections.** Ten times as many refreshes as a closed loop of 64 gets ` +
    `(${load.withNoise(capacities, rate)}): answered with 200 are ${load.withNoise(goodputs, percent)} of that ` +
    `capacity. Answers by status, 0 for none: ${JSON.stringify(statuses)}; never sent, since every connection waited: ` +
    `${unsent}. Refused tokens that were spent all the same: ${lostGrants}.`
  );
}

async function untilAdmitted(ask: load.Work['ask'], lane: number): Promise<number> {
  for (let attempt = 0; attempt < 20; attempt += 1, await sleep(250)) {
    const status = await ask(lane).catch(() => 0);
    if (status !== 503) return status;
  }
  throw new Error('a refused refresh was refused for five seconds');
}

/** Lists of 2,000 Events for 96 readers, who wait as long as a refusal says, beside 8 readers. */
async function lists({ origin, accessToken }: CourseExchange): Promise<string> {
  const read = (readers: number) => readLists(origin, accessToken, readers, 4_000);
  const [throughput, list, refusal]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const few = await read(8);
    const many = await read(96);
    throughput.push(many.perSecond / few.perSecond);
    list.push(...many.listMs);
    refusal.push(...many.refusalMs);
  }
  return (
    `**Lists of 2,000 events, 96 readers** who wait as long as Retry-After says: ` +
    `${load.withNoise(throughput, percent)} of what 8 readers get; a list takes ${milliseconds(load.median(list))}, each of ` +
    `${refusal.length} refusals ${milliseconds(load.median(refusal))} (medians).`
  );
}

/** 150 refreshes a second, alone and beside four readers of 2,000 events who never pause: 2,250 of each. */
async function headOfLine(subject: load.Subject): Promise<string> {
  const refresh = await load.workOf(subject, 'refresh', 64);
  const list = await load.workOf(subject, 'events2000', 4);
  const [alone, beside]: [number[], number[]] = [[], []];
  const refreshes = (times: number[]) =>
    load.openLoop({ perSecond: 150, ms: 3_000, lanes: 64 }, refresh.ask, (_, status, tookMs) => {
      if (status !== 200) throw new Error(`a refresh at a low rate ended with ${status}`);
      times.push(tookMs);
    });
  for (let round = 0; round < 5; round += 1) {
    await refreshes(alone);
    const readers = load.closedLoop(4, list.ask, { ms: 3_500 });
    await Promise.all([readers, sleep(250).then(() => refreshes(beside))]);
  }
  const [least, most] = [alone, beside].map((times) => load.percentile(times, 0.99)) as [number, number];
  return (
    `**Head of line.** 150 refreshes a second take ${milliseconds(load.median(alone))} (p99 ${milliseconds(least)}) alone, ` +
    `${milliseconds(load.median(beside))} (p99 ${milliseconds(most)}) beside four readers of 2,000 events: ` +
    `${(most / least).toFixed(1)} times its p99, of ${alone.length} each.`
  );
}

export const loads: Readonly<Record<string, readonly ((ours: CourseExchange) => Promise<string>)[]>> = {
  'head-of-line': [headOfLine],
  lists: [lists],
  overload: [500, 2_000, 5_000].map((connections) => (ours) => overload(ours, connections)),
};
