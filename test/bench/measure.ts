// What an operation costs: CPU of each subject's processes in short bursts, one subject after the other, in another order
// each round, so that what else the machine does falls on all of them alike. One that followed itself would be cheaper.
import { closedLoop, median } from './load.ts';
import { cpuMicroseconds } from './processes.ts';
import type { Operation, Subject, Work } from './subject.ts';

export interface Cost {
  /** Microseconds of CPU for one request, a value for each round. */
  readonly perRequest: readonly number[];
  /** Requests in a second, with the generator and the stores on the same machine; the median. */
  readonly perSecond: number;
}

export interface Row {
  readonly operation: Operation;
  readonly lanes: number;
  readonly costs: ReadonlyMap<Subject, Cost>;
}

const burstMs = 800;
/** Of what is measured by count. */
const burstCount = 250;
/** Warm is who was asked so often, or whose cost no longer falls. */
const warmRequests = 20_000;
const warmBurstMs = 1_500;
const maxWarmMs = 20_000;
/** By how much bursts of a warm subject differ at most. */
const stable = 0.04;

function pidsOf({ processes }: Subject): number[] {
  return Object.values(processes);
}

/** One burst: microseconds for each request, and requests in a second. */
async function burst(subject: Subject, { ask, supply, renew }: Work, lanes: number, ms: number) {
  await supply?.(burstCount);
  const before = cpuMicroseconds(pidsOf(subject));
  const { requests, perSecond } = await closedLoop(
    lanes,
    ask,
    supply ? { count: burstCount } : { ms },
    renew,
  );
  return { cost: (cpuMicroseconds(pidsOf(subject)) - before) / requests, requests, perSecond };
}

/** Asks `subject` until it is warm. */
async function warm(subject: Subject, work: Work, lanes: number): Promise<void> {
  const costs: number[] = [];
  const begin = performance.now();
  for (let requests = 0; requests < warmRequests && performance.now() - begin < maxWarmMs; ) {
    const one = await burst(subject, work, lanes, warmBurstMs);
    requests += one.requests;
    costs.push(one.cost);
    const last = costs.slice(-3);
    const isStable = Math.max(...last) - Math.min(...last) < stable * median(last);
    if (last.length === 3 && (isStable || work.supply)) return;
  }
}

/** The works of those subjects that have `operation`, warm. */
export async function prepareAll(
  subjects: readonly Subject[],
  operation: Operation,
  lanes: number,
): Promise<Map<Subject, Work>> {
  const works = new Map<Subject, Work>();
  for (const subject of subjects) {
    const work = await subject.prepare(operation, lanes);
    if (!work) continue;
    await warm(subject, work, Math.min(lanes, 8));
    works.set(subject, work);
  }
  return works;
}

/** In an order of chance, that does not begin with `last`: who has two bursts in a row gets warm by the first. */
function inOrder<T>(all: readonly T[], last: T | undefined): readonly T[] {
  const order = all
    .map((one) => [Math.random(), one] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, one]) => one);
  return order[0] === last ? [...order.slice(1), ...order.slice(0, 1)] : order;
}

export async function measure(
  works: ReadonlyMap<Subject, Work>,
  operation: Operation,
  lanes: number,
  rounds: number,
): Promise<Row> {
  const samples = [...works].map(([subject, work]) => ({
    subject,
    work,
    perRequest: [] as number[],
    perSecond: [] as number[],
  }));
  let last: (typeof samples)[number] | undefined;
  for (let round = 0; round < rounds; round++) {
    for (const sample of inOrder(samples, last)) {
      last = sample;
      const one = await burst(sample.subject, sample.work, lanes, burstMs);
      sample.perRequest.push(one.cost);
      sample.perSecond.push(one.perSecond);
    }
  }
  const costs = samples.map(
    ({ subject, perRequest, perSecond }) => [subject, { perRequest, perSecond: median(perSecond) }] as const,
  );
  return { operation, lanes, costs: new Map(costs) };
}

/** Median, least and most. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}

/** What `one` costs in units of `other`, round by round. */
export function ratioOf(one: Cost, other: Cost): Spread {
  return spreadOf(one.perRequest.map((cost, round) => cost / (other.perRequest[round] ?? Number.NaN)));
}
