// What a run comes to: the failed tests, the clauses that passed tests prove, and last the count `N passed, M failed`.
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import * as contract from './contract/clauses.ts';

interface Ending extends contract.TestEnding {
  /** What went wrong, in one line. */
  readonly reason?: string;
}

/** Which clauses a run counts: none, those that show over HTTP, or all; of all, each must be proven. */
type Scope = 'part' | 'contract' | 'whole';
const counted: Readonly<Record<Scope, readonly contract.Clause['proof'][]>> = {
  part: [],
  contract: ['http'],
  whole: ['http', 'inside'],
};

export class ClauseReporter implements Reporter {
  #scope: Scope | undefined;

  /** Without a scope, a run of chosen suites, files or names is a part. */
  constructor(scope?: Scope) {
    this.#scope = scope;
  }

  onInit({ config }: Vitest): void {
    const suites = config.project.filter((name) => !name.startsWith('!'));
    const files = process.argv.slice(3).filter((word) => !word.startsWith('-'));
    const isWhole = suites.length === 0 && files.length === 0 && !config.testNamePattern;
    this.#scope ??= isWhole ? 'whole' : 'part';
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const { tests, problems } = runOf(modules, unhandled);
    const { lines, passed } = verdict(tests, problems, this.#scope ?? 'part');
    for (const line of lines) console.log(line);
    if (!passed) process.exitCode = 1;
  }
}

function runOf(modules: readonly TestModule[], unhandled: readonly SerializedError[]) {
  const cases = modules.flatMap((module) => [...module.children.allTests()]);
  const tests = cases.map((test) => {
    const { state, errors } = test.result();
    const status = state === 'pending' ? 'skipped' : state;
    const name = `${test.module.relativeModuleId}: ${test.fullName}`;
    return { name, status, reason: firstLine(errors?.[0]) };
  });
  const problems = modules.flatMap((module) =>
    module.errors().map((error) => `${module.relativeModuleId}: ${firstLine(error)}`),
  );
  return { tests, problems: [...problems, ...unhandled.map(firstLine)] };
}

function firstLine(error: { readonly message?: string } | undefined): string {
  return (error?.message ?? 'no reason given').split('\n')[0] ?? '';
}

/** The lines to print, the count last. A run that counts clauses and proves none, or in which no test passed, has not passed. */
export function verdict(tests: readonly Ending[], problems: readonly string[], scope: Scope) {
  const of = (status: Ending['status']) => tests.filter((test) => test.status === status);
  const { proven, missing } = contract.proofOf(tests, contract.clauseIds(...counted[scope]));
  const refuted = new Set(of('failed').flatMap(({ name }) => contract.clausesNamed(name)));
  const unproven = missing.filter((clause) => scope === 'whole' || refuted.has(clause));
  const cited = new Set(tests.flatMap(({ name }) => contract.clausesNamed(name)));
  const wrong = [
    ...of('failed').map(({ name, reason }) => `${name}\n       ${reason}`),
    ...problems,
    ...[...cited.difference(contract.clauses)].map(
      (clause) => `a test cites ${clause}, which no document holds`,
    ),
    ...unproven.map((clause) => `not proven ${clause}: ${contract.clauses.get(clause)?.text}`),
  ];
  const [known, left] = [proven.length + missing.length, missing.length - unproven.length];
  const clauseCount = `${known} clauses: ${proven.length} proven, ${left} skipped, ${unproven.length} failed`;
  const skipped = of('skipped').length;
  const lines = [
    ...wrong.map((line) => `FAILED ${line}`),
    ...(scope === 'part' ? [] : [clauseCount]),
    ...(skipped > 0 ? [`${skipped} tests skipped`] : []),
    `${of('passed').length} passed, ${wrong.length} failed`,
  ];
  const shown = scope === 'part' ? of('passed') : proven;
  return { lines, passed: wrong.length === 0 && shown.length > 0 };
}
