// Measures what each operation costs in CPU time of our services, beside the least that the same work can cost
// (bare-server.ts), and with --peers beside oidc-provider. --write puts the figures into docs/performance.md, which says
// how to read them, and what follows from them into docs/install.md.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startBare } from './bare.ts';
import { startCourseExchange } from './course-exchange.ts';
import { measure, prepareAll, type Row } from './measure.ts';
import { startOidcProvider } from './oidc-provider.ts';
import { residentMebibytes } from './processes.ts';
import { type Figures, writePage, written } from './report.ts';
import { type Operation, operations, type Subject } from './subject.ts';
import { headOfLine, latencyAtHalf, listsAtOnce, overload } from './under-load.ts';

const { values: options } = parseArgs({
  options: {
    peers: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    /** `--against DIRECTORY`: another checkout of this repository, to be measured beside this one. */
    against: { type: 'string' },
    /** `--operations refresh,events12`, and `--rounds 9`. */
    operations: { type: 'string', default: Object.keys(operations).join(',') },
    rounds: { type: 'string', default: '5' },
    /** `--operations none --under-load overload,lists,head-of-line`; all three with all operations. */
    'under-load': { type: 'string' },
  },
});
const root = resolve(import.meta.dirname, '../..');
const chosen = options.operations.split(',').filter((name): name is Operation => name in operations);
const whole = chosen.length === Object.keys(operations).length;
const underLoad = options['under-load']?.split(',') ?? (whole ? ['overload', 'lists', 'head-of-line'] : []);
/** Connections of ten times as many refreshes as there is capacity for. */
const overloads = [500, 2_000, 5_000];
const partial = !whole || Boolean(options['under-load'] || options.against);
if (options.write && partial) throw new Error('--write takes a run of all operations, and of nothing else.');
const rounds = Number(options.rounds);
/** At 64 too, where it says more than at 8. */
const manyLanes: readonly Operation[] = ['refresh', 'exchange', 'events12', 'userinfo'];
const open: Subject[] = [];

const begun = loadavg()[0] ?? 0;
const ours = await startCourseExchange('ours', root);
open.push(ours);
const missing: string[] = [];
try {
  await startOthers();
  const figures = await measureAll();
  const text = written(figures);
  console.log(text);
  if (options.write) {
    writePage(text);
    // The capacities of docs/install.md follow from it.
    await import('../generate.ts');
  }
} finally {
  for (const subject of open.toReversed()) await subject.stop();
}
process.exit(0);

async function startOthers(): Promise<void> {
  open.push(await startBare(ours.stack));
  if (options.peers)
    try {
      open.push(await startOidcProvider(ours.stack));
    } catch (error) {
      missing.push(`Not measured: ${error instanceof Error ? error.message : String(error)}`);
    }
  if (options.against) open.push(await startCourseExchange('against', resolve(options.against)));
}

async function measureAll(): Promise<Figures> {
  const rows: Row[] = [];
  const latencies: Figures['latencies'][number][] = [];
  for (const operation of chosen) {
    const atMany = manyLanes.includes(operation);
    const works = await prepareAll(open, operation, atMany ? 64 : 8);
    rows.push(await measure(works, operation, 8, rounds));
    if (!atMany) continue;
    const row = await measure(works, operation, 64, rounds);
    rows.push(row);
    if (operation !== 'refresh' && operation !== 'events12') continue;
    for (const [subject, work] of works) {
      const perSecond = row.costs.get(subject)?.perSecond ?? 0;
      latencies.push({ row, subject, perSecond, latency: await latencyAtHalf(work, perSecond) });
    }
  }
  return {
    machine: machine(),
    ours,
    others: open.filter((subject) => subject !== ours),
    rows,
    latencies,
    headOfLine: underLoad.includes('head-of-line') ? await headOfLine(ours) : undefined,
    lists: underLoad.includes('lists') ? await listsAtOnce(ours) : [],
    overloads: underLoad.includes('overload')
      ? await inTurn(overloads, (lanes) => overload(ours, lanes))
      : [],
    memory: Object.fromEntries(
      open
        .filter(({ name }) => name !== 'bare')
        .flatMap(({ name, processes }) =>
          Object.entries(processes).map(([process, pid]) => [
            name === 'ours' ? process : `${name}: ${process}`,
            residentMebibytes(pid),
          ]),
        ),
    ),
    missing,
  };
}

async function inTurn<In, Out>(values: readonly In[], run: (value: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  for (const value of values) results.push(await run(value));
  return results;
}

function machine(): string {
  const all = cpus();
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
    cwd: root,
    encoding: 'utf8',
  }).trim();
  const day = new Date().toISOString().slice(0, 10);
  return (
    `${day}, ${commit}, Node ${process.versions.node}, ${all.length} × ${all[0]?.model.trim()}; load average ` +
    `${begun.toFixed(1)} before the run; ${rounds} rounds.`
  );
}
