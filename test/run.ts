// The test command: the checks, then every suite, then the share of clauses proven and the count.
// Suites run one after the other: two cores are enough for one deployment under test, not for four.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clauses, outsideClauses } from './contract/clauses/all.ts';
import { leftovers } from './run/leftovers.ts';
import { type Proof, proofOf } from './run/proof.ts';
import { type Selection, type SuiteName, selectSuites } from './run/suites.ts';
import { runProgram, runSuite, type SuiteResult } from './run/vitest-suite.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

async function main(): Promise<number> {
  const selection = selectSuites(process.argv.slice(2));
  const scratch = mkdtempSync(join(tmpdir(), 'ce-'));
  // User `postgres` passes through both to the data of its stores when the tests run as root.
  const temporary = join(scratch, 't');
  mkdirSync(temporary);
  for (const directory of [scratch, temporary]) chmodSync(directory, 0o711);
  process.env.TMPDIR = temporary;
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  try {
    const results = await runAll(selection, scratch, stop.signal);
    return conclude(selection, results);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function runAll(
  selection: Selection,
  scratch: string,
  stop: AbortSignal,
): Promise<Map<string, SuiteResult>> {
  const results = new Map<string, SuiteResult>();
  if (selection.check) results.set('check', await timed('check', () => runCheck(stop)));
  for (const suite of selection.suites) {
    if (stop.aborted) results.set(suite, { tests: [], problems: [`${suite}: not run, the run was stopped`] });
    else results.set(suite, await timed(suite, () => runAndLook(suite, scratch, stop)));
  }
  return results;
}

/** Runs the suite in a temporary directory of the run's own; what it leaves there is a failure. */
async function runAndLook(suite: SuiteName, scratch: string, stop: AbortSignal): Promise<SuiteResult> {
  const result = await runSuite(root, suite, scratch, stop);
  const left = leftovers(tmpdir()).map((name) => `${suite}: left ${name} in the temporary directory`);
  return { ...result, problems: [...result.problems, ...left] };
}

async function runCheck(stop: AbortSignal): Promise<SuiteResult> {
  const code = await runProgram(root, ['test/check.ts'], stop);
  return { tests: [{ name: 'check', status: code === 0 ? 'passed' : 'failed' }], problems: [] };
}

async function timed(name: SuiteName | 'check', run: () => Promise<SuiteResult>): Promise<SuiteResult> {
  console.log(`\n━━ ${name}`);
  const begun = performance.now();
  const result = await run();
  console.log(`   ${name} took ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  return result;
}

function conclude(selection: Selection, results: ReadonlyMap<string, SuiteResult>): number {
  const all = [...results.values()];
  const tests = all.flatMap((result) => result.tests);
  const problems = all.flatMap((result) => result.problems);
  const failures = [...results].flatMap(([suite, result]) =>
    result.tests.filter((test) => test.status === 'failed').map((test) => `${suite}: ${test.name}`),
  );
  for (const line of [...failures, ...problems]) console.log(`FAILED ${line}`);
  // A suite that lacks its tool has one test of that name, skipped, which says what to install.
  const notRun = tests.filter((test) => test.status === 'skipped' && test.name.startsWith('not run: '));
  for (const { name } of notRun) console.log(`SKIPPED ${name}`);
  const unproven = reportProof(
    selection,
    proofOf(tests, selection.whole ? clauses.keys() : outsideClauses.keys()),
    {
      unknown: proofOf(tests, clauses.keys()).unknown,
    },
  );
  const passed = tests.filter((test) => test.status === 'passed').length;
  const failed = failures.length + problems.length + unproven;
  const skipped = tests.length - passed - failures.length;
  if (skipped > 0) console.log(`${skipped} skipped`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/** Prints the share proven; gives the number of failures that it adds to the count. */
function reportProof(selection: Selection, proof: Proof, { unknown }: Pick<Proof, 'unknown'>): number {
  for (const clause of unknown) console.log(`FAILED a test cites ${clause}, which no list of clauses holds`);
  const partial = !selection.whole && !selection.suites.includes('contract');
  if (partial) return unknown.length;
  const total = proof.proven.length + proof.missing.length;
  const share = Math.floor((proof.proven.length / total) * 1_000) / 10;
  const which = selection.whole ? 'clauses' : 'clauses that show over HTTP';
  for (const clause of proof.missing) console.log(`not proven ${clause}: ${clauses.get(clause)}`);
  console.log(`${proof.proven.length} of ${total} ${which} proven (${share} %)`);
  return unknown.length + (selection.whole ? proof.missing.length : 0);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
