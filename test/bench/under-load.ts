// How the services behave under load: goodput at ten times what they carry (that no refused token is lost:
// test/faults/overload.test.ts), and refreshes beside readers of long lists. What is compared alternates, round by round. Each gives a
// line of the report.
import { setTimeout as sleep } from 'node:timers/promises';
import * as load from './load.ts';

const rounds = 3;
const overloadMs = 5_000;

const milliseconds = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
const rate = (perSecond: number): string => `${Math.round(perSecond).toLocaleString('en')}/s`;
const percent = (part: number): string => `${Math.round(100 * part)} %`;

/** Offers ten times as many refreshes as a closed loop of 64 gets. */
async function overload(subject: load.Subject, connections: number): Promise<string> {
  const [capacities, goodputs]: [number[], number[]] = [[], []];
  const statuses: Record<number, number> = {};
  let unsent = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { ask } = await load.workOf(subject, 'refresh', connections);
    await load.closedLoop(64, ask, { count: connections });
    const { perSecond } = await load.closedLoop(64, ask, { ms: overloadMs });
    let inTime = 0;
    const end = performance.now() + overloadMs;
    const tenfold = { perSecond: perSecond * 10, ms: overloadMs, lanes: connections };
    unsent += await load.openLoop(tenfold, ask, (status) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 200 && performance.now() <= end) inTime += 1;
    });
    capacities.push(perSecond);
    goodputs.push((inTime * 1_000) / overloadMs / perSecond);
  }
  return (
    `**Overload, ${connections} connections.** Ten times as many refreshes as a closed loop of 64 gets ` +
    `(${load.withNoise(capacities, rate)}): answered with 200 are ${load.withNoise(goodputs, percent)} of that ` +
    `capacity. Answers by status, 0 for none: ${JSON.stringify(statuses)}; never sent, since every connection waited: ${unsent}.`
  );
}

/** 150 refreshes a second, alone and beside four readers of 2,000 events who never pause: 2,250 of each. */
async function headOfLine(subject: load.Subject): Promise<string> {
  const refresh = await load.workOf(subject, 'refresh', 64);
  const list = await load.workOf(subject, 'events2000', 4);
  const [alone, beside]: [number[], number[]] = [[], []];
  const refreshes = (times: number[]) =>
    load.openLoop({ perSecond: 150, ms: 3_000, lanes: 64 }, refresh.ask, (status, tookMs) => {
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

export const loads: Readonly<Record<string, readonly ((ours: load.Subject) => Promise<string>)[]>> = {
  'head-of-line': [headOfLine],
  overload: [500, 2_000, 5_000].map((connections) => (ours) => overload(ours, connections)),
};
