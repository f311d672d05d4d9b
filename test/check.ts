// The check script: everything that can be checked without running the product. Steps run side by side, print a
// line each, and the output of those that failed; ends with code 1 when one did.
import { availableParallelism } from 'node:os';
import { generateProto } from '@course-exchange/proto/generate';
import { findVulnerabilities, listLicences, unaccepted } from '../deploy/images/supply-chain.ts';
import { findBreaches } from './check/house-rules.ts';
import { command, fail, type Step } from './check/step.ts';
import { filesOfProject } from './docs/documents.ts';
import { obtainProgram } from './support/programs.ts';

const steps: Readonly<Record<string, Step>> = {
  'format and lint': command('biome', 'check --error-on-warnings --diagnostic-level=warn --colors=off .'),
  types: command('tsc', '-p .'),
  'import rules': command('depcruise', '--config .dependency-cruiser.ts services proto deploy test'),
  'dead code': command('knip', '--no-progress'),
  'proto lint': command('buf', 'lint proto'),
  'proto compatibility': command('buf', 'breaking proto --against proto/baseline.binpb.gz'),
  'generated pages': command('node', 'test/generate.ts --check'),
  'places of mutants': command('node', 'test/mutants/run.ts --places'),
  'house rules': findBreaches,
  'shell lint': lint('shellcheck', '--external-sources', /\.sh$|^\.ci\/run$/),
  'Dockerfile lint': lint('hadolint', '--no-color', /(^|\/|\.)Dockerfile$/),
  licences: async () => fail(unaccepted(await listLicences())),
  vulnerabilities: async () => {
    const found = await findVulnerabilities();
    return found === undefined ? 'the package registry answered no audit' : fail(found);
  },
};

generateProto();
const waiting = Object.entries(steps);
const failed: string[] = [];

async function work(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, run] = next;
    const start = performance.now();
    try {
      const missing = await run();
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      console.log(missing ? `NOT RUN ${name}: ${missing}` : `ok      ${name} (${seconds} s)`);
    } catch (error) {
      failed.push(name);
      console.log(`FAILED  ${name}\n${(error as Error).message.trim().replace(/^/gm, '        ')}`);
    }
  }
}

await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
if (failed.length > 0) {
  console.log(`check failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}

/** The linters are of one version, so that the verdict is the same on every machine. */
function lint(linter: 'shellcheck' | 'hadolint', option: string, paths: RegExp): Step {
  return async () => {
    const found = await obtainProgram(linter).catch((error: Error) => error);
    if (found instanceof Error) return found.message;
    const files = filesOfProject().filter((path) => paths.test(path));
    return command(found.command, option, ...files)();
  };
}
