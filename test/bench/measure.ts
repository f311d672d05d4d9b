// What an operation costs: CPU of each subject's processes in short bursts, one subject after the other, in another order
// each round, so that what else the machine does falls on all of them alike. One that followed itself would be cheaper.
import { readdirSync, readFileSync } from 'node:fs';
import { closedLoop } from './load.ts';
import { type Operation, type Subject, type Work, workOf } from './subject.ts';

/** Microseconds of CPU for one request, a value for each round. */
type Cost = readonly number[];

export interface Row {
  readonly operation: Operation;
  readonly lanes: number;
  readonly costs: ReadonlyMap<Subject, Cost>;
}

/** Of what is measured by count. */
const burstCount = 250;
const bound = { ms: 800 };
/** A subject is warm after so many requests, or so long; one that is measured by count after so many bursts. */
const warm = { count: 20_000, ms: 20_000 };
const warmBursts = 6;

type Prepared = readonly (readonly [Subject, Work])[];

/** Bursts of one operation with each of these numbers of lanes, of those subjects that have it. */
export async function measure(
  subjects: readonly Subject[],
  operation: Operation,
  manyLanes: readonly number[],
  rounds: number,
): Promise<readonly Row[]> {
  const prepared: [Subject, Work][] = [];
  for (const subject of subjects) {
    const work = await workOf(subject, operation, Math.max(...manyLanes));
    if (work === undefined) continue;
    if (work.supply === undefined) await closedLoop(8, work.ask, warm, work.renew);
    else for (let bursts = 0; bursts < warmBursts; bursts += 1) await burst(subject, work, 8);
    prepared.push([subject, work]);
  }
  const rows: Row[] = [];
  for (const lanes of manyLanes)
    rows.push({ operation, lanes, costs: await costsOf(prepared, lanes, rounds) });
  return rows;
}

async function costsOf(prepared: Prepared, lanes: number, rounds: number): Promise<Row['costs']> {
  const costs = new Map(prepared.map(([subject]) => [subject, [] as number[]]));
  let order = prepared;
  for (let round = 0; round < rounds; round += 1) {
    order = shuffled(order);
    for (const [subject, work] of order) costs.get(subject)?.push(await burst(subject, work, lanes));
  }
  return costs;
}

/** In an order of chance that does not begin with the last. */
function shuffled(all: Prepared): Prepared {
  const [first, ...others] = all
    .map((one) => [Math.random(), one] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, one]) => one);
  if (first === undefined) return [];
  return first === all.at(-1) ? [...others, first] : [first, ...others];
}

async function burst(subject: Subject, { ask, supply, renew }: Work, lanes: number): Promise<number> {
  await supply?.(burstCount);
  const before = cpuMicroseconds(subject);
  const { requests } = await closedLoop(lanes, ask, supply ? { count: burstCount } : bound, renew);
  return (cpuMicroseconds(subject) - before) / requests;
}

/** By the kernel's scheduler, over all threads: the ticks of /proc/PID/stat are 10 ms. Threads that ended are missing. */
function cpuMicroseconds({ processes }: Subject): number {
  const nanoseconds = Object.values(processes).flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
    ),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1_000;
}

/** What `one` costs in units of `other`, round by round. */
export function ratiosOf(one: Cost, other: Cost): Cost {
  return one.map((cost, round) => cost / (other[round] ?? Number.NaN));
}
