// The command `test:faults`. Without options each fault of the local stack once, as vitest's suite `faults`; words
// go to vitest. With `--minutes N` faults drawn by a seed, which it prints and `--seed S` gives again, in rounds, until N minutes
// are over or something is wrong. Exit codes: 0 all was well, 1 it was not.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../check/step.ts';
import { setup } from '../setup/scratch.ts';
import { startProbe } from '../support/own-time.ts';
import type { Operation } from './checker.ts';
import { startLocal } from './local.ts';
import { randomOf, startRound } from './nemesis.ts';
import { table } from './table.ts';

/** A round tries at its end all that it had, while a used code is still remembered (R10.2). */
const roundMs = 5 * 60_000;

const words = process.argv.slice(2);
const { minutes, seed } = parseArgs({
  args: words,
  options: { minutes: { type: 'string' }, seed: { type: 'string' } },
  strict: false,
}).values;
setup();
process.exitCode =
  minutes === undefined ? playEach() : await playFor(Number(minutes), Number(seed ?? randomInt(2 ** 31)));

function playEach(): number {
  const suites = ['run', '--config=test/vitest.config.ts', '--project=faults'];
  const vitest = ['node_modules/vitest/vitest.mjs', ...suites, ...words];
  return spawnSync(process.execPath, vitest, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

async function playFor(wanted: number, drawnBy: number): Promise<number> {
  console.log(`--minutes ${wanted} --seed ${drawnBy}`);
  const probe = await startProbe();
  const target = await startLocal(probe);
  const [random, begun, rows] = [randomOf(drawnBy), performance.now(), table.local];
  const isOver = () => performance.now() - begun > wanted * 60_000;
  const operations: Operation[] = [];
  const wrong: string[] = [];
  let faults = 0;
  let isWell = false;
  try {
    while (!isOver() && wrong.length === 0) {
      const round = await startRound(target, probe, random(2 ** 31));
      for (const from = performance.now(); !isOver() && performance.now() - from < roundMs; faults += 1)
        wrong.push(...(await round.play(rows[random(rows.length)] as (typeof rows)[number])));
      wrong.push(...(await round.finish()));
      for (const operation of round.operations) operations.push(operation);
    }
    isWell = wrong.length === 0;
  } finally {
    if (!isWell) {
      const kept = join(root, '.run/faults', `${drawnBy}`);
      cpSync(target.logs, kept, { recursive: true });
      console.log(`The logs of the system are in ${kept}`);
    }
    await target.stop?.();
    probe.stop();
  }
  for (const line of wrong) console.log(`FAILED ${line}`);
  const rotations = operations.filter(({ kind, answer }) => kind === 'refresh' && answer === 'good');
  console.log(
    `${faults} faults, ${operations.length} operations, ${rotations.length} rotations in ` +
      `${((performance.now() - begun) / 60_000).toFixed(1)} minutes, ${wrong.length} violations`,
  );
  return isWell ? 0 : 1;
}
