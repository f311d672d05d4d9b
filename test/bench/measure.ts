// What an operation costs: CPU of each subject's processes in short bursts, one subject after the other, in another order
// each round, so that what else the machine does falls on all of them alike. One that followed itself would be cheaper.
import { readdirSync, readFileSync } from 'node:fs';
import { table } from '../generate/page.ts';
import * as load from './load.ts';

/** Microseconds of CPU for one request, a value for each round. */
type Cost = readonly number[];

interface Row {
  readonly operation: load.Operation;
  readonly lanes: number;
  readonly costs: ReadonlyMap<load.Subject, Cost>;
}

/** Exchanges are measured by count, since their codes are made first. */
const boundOf = (operation: load.Operation) => (operation === 'exchange' ? { count: 250 } : { ms: 800 });
const warmBurstsOf = (operation: load.Operation) => (operation === 'exchange' ? 6 : 25);

/** Bursts of one operation with each of these numbers of lanes, of those subjects that have it. */
export async function measure(
  subjects: readonly load.Subject[],
  operation: load.Operation,
  manyLanes: readonly number[],
  rounds: number,
): Promise<readonly Row[]> {
  const burst = async (
    { pids }: load.Subject,
    { ask, supply }: load.Work,
    lanes: number,
  ): Promise<number> => {
    const bound = boundOf(operation);
    await supply(bound.count ?? 0);
    const before = cpuMicroseconds(pids);
    const { requests } = await load.closedLoop(lanes, ask, bound);
    return (cpuMicroseconds(pids) - before) / requests;
  };
  const works = new Map<load.Subject, load.Work>();
  for (const subject of subjects.filter(({ requests }) => requests('')[operation])) {
    const work = await load.workOf(subject, operation, Math.max(...manyLanes));
    for (let left = warmBurstsOf(operation); left > 0; left -= 1) await burst(subject, work, 8);
    works.set(subject, work);
  }
  const rows: Row[] = [];
  for (const lanes of manyLanes) {
    const costs = new Map([...works.keys()].map((subject) => [subject, [] as number[]]));
    let order = [...works];
    for (let round = 0; round < rounds; round += 1) {
      order = shuffled(order);
      for (const [subject, work] of order) costs.get(subject)?.push(await burst(subject, work, lanes));
    }
    rows.push({ operation, lanes, costs });
  }
  return rows;
}

/** In a random order that does not begin with the last. */
function shuffled<One>(all: readonly One[]): One[] {
  const keyed = all.map((one) => [Math.random(), one] as const);
  const order = keyed.sort(([one], [other]) => one - other).map(([, one]) => one);
  return order[0] === all.at(-1) ? order.reverse() : order;
}

/** By the kernel's scheduler, over all threads: the ticks of /proc/PID/stat are 10 ms. Threads that ended are missing. */
function cpuMicroseconds(pids: readonly number[]): number {
  const nanoseconds = pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((thread) =>
      Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
    ),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1_000;
}

const microseconds = (value: number): string => Math.round(value).toLocaleString('en');

export function costTable([ours, ...others]: readonly load.Subject[], rows: readonly Row[]): string {
  const heads = others.flatMap(({ name }) => [`${name}, µs`, `÷ ${name}`]);
  const lines = rows.map(({ operation, lanes, costs }) => {
    const own = (ours && costs.get(ours)) ?? [];
    const beside = others.flatMap((other) => {
      const cost = costs.get(other);
      if (cost === undefined) return ['', ''];
      const ratios = own.map((value, round) => value / (cost[round] ?? Number.NaN));
      return [microseconds(load.median(cost)), load.withNoise(ratios, (value) => value.toFixed(2))];
    });
    return [load.operations[operation], `${lanes}`, load.withNoise(own, microseconds), ...beside];
  });
  return table(['operation', 'at a time', `${ours?.name}, µs`, ...heads], lines);
}
