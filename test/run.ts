// The test command: the checks, then every suite, then the share of clauses proven and the count. Suites run one after the
// other, first those that start what they need themselves, then those that call a deployment, on one stack: two cores are
// enough for one of them, not for two.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clauseIds, clauses } from './contract/clauses.ts';
import { leftovers } from './run/leftovers.ts';
import { proofOf } from './run/proof.ts';
import { scratchHome } from './run/scratch.ts';
import { lanesOf, type Selection, type SuiteName, selectSuites } from './run/suites.ts';
import { runProgram, runSuite, type SuiteResult, type TestResult } from './run/vitest-suite.ts';
import { startStack } from './support/stack.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

async function main(): Promise<number> {
  const selection = selectSuites(process.argv.slice(2));
  const scratch = mkdtempSync(join(scratchHome(), 'ce-'));
  chmodSync(scratch, 0o711);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  try {
    const results = new Map<string, SuiteResult>();
    if (selection.check) results.set('check', await timed('check', () => runCheck(stop.signal)));
    const [alone, together] = lanesOf(selection);
    const lane = { scratch: openFolder(scratch, 'a'), stop: stop.signal, results };
    await runLane(alone, lane);
    const shared = onSharedStack(together, scratch, async (stackFile) => {
      await runLane(together, { ...lane, stackFile });
      if (stackFile && failuresOf(results).length > 0) printWarnings(join(dirname(stackFile), 'logs'));
    });
    // What ran before it counts all the same.
    const problems = await shared.then(
      () => [],
      (error: unknown) => [`the shared stack: ${error instanceof Error ? error.message : error}`],
    );
    return summarize(selection, results, problems);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

interface Lane {
  /** Its temporary directory: what a suite leaves there is a failure. */
  readonly scratch: string;
  readonly stop: AbortSignal;
  readonly results: Map<string, SuiteResult>;
  /** Of the deployment that its suites call. */
  readonly stackFile?: string | undefined;
}

/** User `postgres` passes through it to the data of its stores when the tests run as root. */
function openFolder(scratch: string, name: string): string {
  const folder = join(scratch, name);
  mkdirSync(folder);
  chmodSync(folder, 0o711);
  return folder;
}

/** The stack is started for the first suite that needs one, unless a deployment is named. */
async function onSharedStack(
  suites: readonly SuiteName[],
  scratch: string,
  run: (stackFile?: string) => Promise<void>,
): Promise<void> {
  if (suites.length < 2 || process.env.CONTRACT_STACK || process.env.STACK_FILE) return run();
  const stack = await startStack([], openFolder(scratch, 'stack'));
  try {
    await run(stack.file);
  } finally {
    await stack.stop();
  }
}

async function runLane(
  suites: readonly SuiteName[],
  { scratch, stop, results, stackFile }: Lane,
): Promise<void> {
  const environment = { ...process.env, TMPDIR: scratch, ...(stackFile ? { STACK_FILE: stackFile } : {}) };
  for (const suite of suites) {
    if (stop.aborted) results.set(suite, { tests: [], problems: [`${suite}: not run, the run was stopped`] });
    else {
      const run = () => runSuite(root, suite, { scratch, environment, stop });
      const result = await timed(suite, run);
      const left = leftovers(scratch).map((name) => `${suite}: left ${name} in the temporary directory`);
      results.set(suite, { ...result, problems: [...result.problems, ...left] });
    }
  }
}

/** What the services warned of last: a failure that the next run does not repeat is found in it. */
function printWarnings(logs: string): void {
  for (const name of readdirSync(logs)) {
    const lines = readFileSync(join(logs, name), 'utf8').split('\n');
    const warnings = lines.filter((line) => /"level":"(warn|error)"/.test(line)).slice(-20);
    for (const line of warnings) console.log(`${name}: ${line.slice(0, 400)}`);
  }
}

async function runCheck(stop: AbortSignal): Promise<SuiteResult> {
  const { code, output } = await runProgram(root, ['test/check.ts'], { environment: process.env, stop });
  process.stdout.write(output);
  return { tests: [{ name: 'check', status: code === 0 ? 'passed' : 'failed' }], problems: [] };
}

async function timed(name: SuiteName | 'check', run: () => Promise<SuiteResult>): Promise<SuiteResult> {
  console.log(`━━ ${name} begins`);
  const begun = performance.now();
  const result = await run();
  console.log(`   ${name} took ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  return result;
}

function failuresOf(results: ReadonlyMap<string, SuiteResult>): string[] {
  return [...results].flatMap(([suite, { tests }]) =>
    tests.filter((test) => test.status === 'failed').map((test) => `${suite}: ${test.name}`),
  );
}

function summarize(
  selection: Selection,
  results: ReadonlyMap<string, SuiteResult>,
  shared: readonly string[],
): number {
  const all = [...results.values()];
  const tests = all.flatMap((result) => result.tests);
  const problems = [...all.flatMap((result) => result.problems), ...shared];
  const failures = failuresOf(results);
  for (const line of [...failures, ...problems]) console.log(`FAILED ${line}`);
  // A suite that lacks its tool has one test of that name, skipped, which says what to install.
  const notRun = tests.filter((test) => test.status === 'skipped' && test.name.startsWith('not run: '));
  for (const { name } of notRun) console.log(`SKIPPED ${name}`);
  const unproven = reportProof(selection, tests);
  const passed = tests.filter((test) => test.status === 'passed').length;
  const failed = failures.length + problems.length + unproven;
  const skipped = tests.length - passed - failures.length;
  if (skipped > 0) console.log(`${skipped} skipped`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/** Prints the share proven; gives the number of failures that it adds to the count. */
function reportProof(selection: Selection, tests: readonly TestResult[]): number {
  const { unknown } = proofOf(tests, clauses.keys());
  for (const clause of unknown) console.log(`FAILED a test cites ${clause}, which no document holds`);
  const partial = !selection.whole && !selection.suites.includes('contract');
  if (partial) return unknown.length;
  const { proven, missing } = proofOf(
    tests,
    selection.whole ? clauseIds('http', 'inside') : clauseIds('http'),
  );
  const total = proven.length + missing.length;
  const share = Math.floor((proven.length / total) * 1_000) / 10;
  const which = selection.whole ? 'clauses' : 'clauses that show over HTTP';
  for (const clause of missing) console.log(`not proven ${clause}: ${clauses.get(clause)?.text}`);
  const planned = proofOf(tests, clauseIds('planned'));
  for (const clause of planned.proven) console.log(`proven, but still marked as planned: ${clause}`);
  console.log(
    `${proven.length} of ${total} ${which} proven (${share} %), ${planned.missing.length} more planned`,
  );
  return unknown.length + (selection.whole ? missing.length : 0);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
