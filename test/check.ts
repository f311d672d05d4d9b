// The check script: everything that can be judged without running the product. Steps run side by side, print a
// line each, and the output of those that failed; ends with code 1 when one did.
import { availableParallelism } from 'node:os';
import { compareGeneratedCode } from './check/generated-code.ts';
import { findBreaches } from './check/house-rules.ts';
import { lintDockerfiles, lintShell } from './check/script-lints.ts';
import { command, type Step, type StepResult } from './check/step.ts';
import { askForKnownHoles, checkLicences } from './check/supply-chain.ts';

const steps: readonly Step[] = [
  {
    name: 'format and lint',
    run: command('biome', 'check', '--error-on-warnings', '--diagnostic-level=warn', '--colors=off', '.'),
  },
  { name: 'types', run: command('tsc', '-p', '.') },
  {
    name: 'import rules',
    run: command('depcruise', '--config', '.dependency-cruiser.ts', 'services', 'proto', 'deploy', 'test'),
  },
  { name: 'dead code', run: command('knip', '--no-progress') },
  { name: 'proto lint', run: command('buf', 'lint', 'proto') },
  {
    name: 'proto compatibility',
    run: command('buf', 'breaking', 'proto', '--against', 'proto/baseline.binpb'),
  },
  { name: 'generated code', run: compareGeneratedCode },
  { name: 'house rules', run: findBreaches },
  { name: 'shell lint', run: lintShell },
  { name: 'Dockerfile lint', run: lintDockerfiles },
  { name: 'licences', run: checkLicences },
  { name: 'known holes', run: askForKnownHoles },
];

async function report(step: Step): Promise<boolean> {
  const start = performance.now();
  const result = await step.run().catch((error): StepResult => ({ passed: false, output: String(error) }));
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const missing = result.notRun === undefined ? '' : ` not run: ${result.notRun}`;
  console.log(`${result.passed ? 'ok    ' : 'FAILED'} ${step.name} (${seconds} s)${missing}`);
  if (!result.passed) console.log(result.output.trim().replace(/^/gm, '       '));
  return result.passed;
}

const waiting = [...steps];
const failed: string[] = [];

async function work(): Promise<void> {
  for (let step = waiting.shift(); step; step = waiting.shift()) {
    if (!(await report(step))) failed.push(step.name);
  }
}

await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
if (failed.length > 0) {
  console.log(`check failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
