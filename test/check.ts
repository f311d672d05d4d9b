// The check script: everything that can be judged without running the product. Steps run side by side, print a
// line each, and the output of those that failed; ends with code 1 when one did.
import { availableParallelism } from 'node:os';
import { generateProto } from '@course-exchange/proto/generate';
import { findVulnerabilities, listLicences, unaccepted } from '../deploy/images/dependencies.ts';
import { findBreaches } from './check/house-rules.ts';
import { lintDockerfiles, lintShell } from './check/script-lints.ts';
import { command, type Step, type StepResult } from './check/step.ts';

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
    run: command('buf', 'breaking', 'proto', '--against', 'proto/baseline.binpb.gz'),
  },
  { name: 'generated pages', run: command('node', 'test/generate.ts', '--check') },
  { name: 'house rules', run: findBreaches },
  { name: 'shell lint', run: lintShell },
  { name: 'Dockerfile lint', run: lintDockerfiles },
  { name: 'licences', run: checkLicences },
  { name: 'vulnerabilities', run: askForVulnerabilities },
];

async function report(step: Step): Promise<boolean> {
  const start = performance.now();
  const result = await step.run().catch((error): StepResult => ({ passed: false, output: String(error) }));
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (result.notRun) console.log(`NOT RUN ${step.name}: ${result.notRun}`);
  else console.log(`${result.passed ? 'ok    ' : 'FAILED'} ${step.name} (${seconds} s)`);
  if (!result.passed) console.log(result.output.trim().replace(/^/gm, '       '));
  return result.passed;
}

generateProto();
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

async function checkLicences(): Promise<StepResult> {
  return said(unaccepted(await listLicences()));
}

async function askForVulnerabilities(): Promise<StepResult> {
  const found = await findVulnerabilities();
  if (found === undefined)
    return { passed: true, output: '', notRun: 'the package registry answered no audit' };
  return said(found);
}

function said(problems: readonly string[]): StepResult {
  return { passed: problems.length === 0, output: problems.join('\n') };
}
