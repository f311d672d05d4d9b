// Measures what each operation costs in CPU time of our services, beside the least that the same work can cost (bare.ts), and
// with --peers beside oidc-provider: in short bursts, one subject after the other, in another order each round, so that what else
// the machine does falls on all of them alike. Prints Markdown; docs/cost.md says how to read it.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../check/step.ts';
import { table } from '../generate/page.ts';
import { startBare } from './bare.ts';
import { startCourseExchange } from './course-exchange.ts';
import * as load from './load.ts';
import { startOidcProvider } from './oidc-provider.ts';
import { loads } from './under-load.ts';

const { values: options } = parseArgs({
  options: {
    peers: { type: 'boolean', default: false },
    /** `--against DIRECTORY`: another checkout of this repository, to be measured beside this one. */
    against: { type: 'string' },
    /** `--operations refresh,events12`, and `--rounds 9`. */
    operations: { type: 'string', default: Object.keys(load.operations).join(',') },
    rounds: { type: 'string', default: '5' },
    /** `--operations none --under-load overload,head-of-line`; both with all operations. */
    'under-load': { type: 'string' },
  },
});
const chosen = options.operations
  .split(',')
  .filter((name): name is load.Operation => name in load.operations);
const isWhole = chosen.length === Object.keys(load.operations).length;
const underLoad = options['under-load']?.split(',') ?? (isWhole ? Object.keys(loads) : []);
/** At 64 too, where it says more than at 8. */
const atMany: readonly load.Operation[] = ['refresh', 'exchange', 'events12'];

/** Exchanges are measured by count, since their codes are made first. */
const boundOf = (operation: load.Operation) => (operation === 'exchange' ? { count: 250 } : { ms: 800 });
const warmBurstsOf = (operation: load.Operation) => (operation === 'exchange' ? 6 : 25);

const microseconds = (value: number): string => Math.round(value).toLocaleString('en');

interface Row {
  readonly operation: load.Operation;
  readonly lanes: number;
  /** Microseconds of CPU for one request, a value for each round. */
  readonly costs: ReadonlyMap<load.Subject, readonly number[]>;
}

const [begun = 0] = loadavg();
const ours = await startCourseExchange('ours', root);
const subjects: load.Subject[] = [ours];
try {
  subjects.push(await startBare(ours.stack));
  if (options.peers) subjects.push(await startOidcProvider(ours.stack));
  if (options.against) subjects.push(await startCourseExchange('against', resolve(options.against)));
  const rows = [];
  for (const operation of chosen) rows.push(...(await measure(operation)));
  console.log(`${machine()}\n\n${costTable(rows)}`);
  for (const say of underLoad.flatMap((name) => loads[name] ?? [])) console.log(`\n${await say(ours)}`);
} finally {
  for (const subject of subjects.toReversed()) await subject.stop();
}
process.exit(0);

function machine(): string {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' });
  const [day, all] = [new Date().toISOString().slice(0, 10), cpus()];
  return (
    `${day}, ${commit.trim()}, Node ${process.versions.node}, ${all.length} × ${all[0]?.model.trim()}; load average ` +
    `${begun.toFixed(1)} before the run; ${options.rounds} rounds.`
  );
}

/** Bursts of one operation, of those subjects that have it. */
async function measure(operation: load.Operation): Promise<readonly Row[]> {
  const burst = async ({ pids }: load.Subject, { ask, supply }: load.Work, lanes: number) => {
    const bound = boundOf(operation);
    await supply(bound.count ?? 0);
    const before = cpuMicroseconds(pids);
    const { requests } = await load.closedLoop(lanes, ask, bound);
    return (cpuMicroseconds(pids) - before) / requests;
  };
  const manyLanes = atMany.includes(operation) ? [8, 64] : [8];
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
    for (let round = 0; round < Number(options.rounds); round += 1) {
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

function costTable(rows: readonly Row[]): string {
  const others = subjects.slice(1);
  const heads = others.flatMap(({ name }) => [`${name}, µs`, `÷ ${name}`]);
  const lines = rows.map(({ operation, lanes, costs }) => {
    const own = costs.get(ours) ?? [];
    const beside = others.flatMap((other) => {
      const cost = costs.get(other);
      if (cost === undefined) return ['', ''];
      const ratios = own.map((value, round) => value / (cost[round] ?? Number.NaN));
      return [microseconds(load.median(cost)), load.withNoise(ratios, (value) => value.toFixed(2))];
    });
    return [load.operations[operation], `${lanes}`, load.withNoise(own, microseconds), ...beside];
  });
  return table(['operation', 'at a time', `${ours.name}, µs`, ...heads], lines);
}
