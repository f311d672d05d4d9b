// Measures what each operation costs in CPU time of our services, beside the least that the same work can cost
// (bare.ts), and with --peers beside oidc-provider. Prints Markdown; docs/cost.md says how to read it.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../check/step.ts';
import { startBare } from './bare.ts';
import { startCourseExchange } from './course-exchange.ts';
import { type Operation, operations, type Subject } from './load.ts';
import { costTable, measure } from './measure.ts';
import { startOidcProvider } from './oidc-provider.ts';
import { loads } from './under-load.ts';

const { values: options } = parseArgs({
  options: {
    peers: { type: 'boolean', default: false },
    /** `--against DIRECTORY`: another checkout of this repository, to be measured beside this one. */
    against: { type: 'string' },
    /** `--operations refresh,events12`, and `--rounds 9`. */
    operations: { type: 'string', default: Object.keys(operations).join(',') },
    rounds: { type: 'string', default: '5' },
    /** `--operations none --under-load overload,lists,head-of-line`; all three with all operations. */
    'under-load': { type: 'string' },
  },
});
const chosen = options.operations.split(',').filter((name): name is Operation => name in operations);
const isWhole = chosen.length === Object.keys(operations).length;
const underLoad = options['under-load']?.split(',') ?? (isWhole ? Object.keys(loads) : []);
/** At 64 too, where it says more than at 8. */
const atMany: readonly Operation[] = ['refresh', 'exchange', 'events12'];

const [begun = 0] = loadavg();
const ours = await startCourseExchange('ours', root);
const subjects: Subject[] = [ours];
try {
  subjects.push(await startBare(ours.stack));
  if (options.peers) subjects.push(await startOidcProvider(ours.stack));
  if (options.against) subjects.push(await startCourseExchange('against', resolve(options.against)));
  const rows = [];
  for (const operation of chosen) {
    const lanes = atMany.includes(operation) ? [8, 64] : [8];
    rows.push(...(await measure(subjects, operation, lanes, Number(options.rounds))));
  }
  console.log(`${machine()}\n\n${costTable(subjects, rows)}`);
  for (const load of underLoad.flatMap((name) => loads[name] ?? [])) console.log(`\n${await load(ours)}`);
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
