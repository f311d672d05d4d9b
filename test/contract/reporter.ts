// What a run comes to: the failed tests, the clauses that passed tests prove, and last the count `N passed, M failed`. The
// clauses are the numbered sentences of docs/specification.md and docs/rulings.md, which bind the server. A test proves one by
// carrying its number in its name: `test('… [R7.3, R8.1]', …)`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

type Clause = {
  readonly id: string;
  readonly text: string;
  /** `http`: shows against any deployment; `inside`: in stores, processes or logs alone; `planned`: not tested yet. */
  readonly proof: 'http' | 'inside' | 'planned';
};

/** Two folders up: the bundle of deploy/contract-tests lies as deep as this file. */
const root = join(import.meta.dirname, '../..');
const anchor = /<a id="([RS]\d+(?:\.[a-z]+)?\.\d+)"><\/a>/;
const item = new RegExp(`^- ${anchor.source}\\*\\*(\\S+)\\*\\* (?:\\*\\((inside|planned)\\)\\* )?(.+)$`);

/** Reads the list items that begin with an anchor. Throws for one that is written in another form. */
export function readClauses(document: string): readonly Clause[] {
  return document
    .replaceAll(/\n {2}(?=\S)/g, ' ')
    .split('\n')
    .filter((line) => anchor.test(line))
    .map((line) => {
      const [, id = '', shown, mark, text = ''] = item.exec(line) ?? [];
      if (id === '' || id !== shown) throw new Error(`not in the form of a clause: ${line}`);
      return { id, text, proof: mark === 'inside' || mark === 'planned' ? mark : 'http' };
    });
}

const all = ['specification', 'rulings'].flatMap((name) =>
  readClauses(readFileSync(join(root, 'docs', `${name}.md`), 'utf8')),
);

export const clauses: ReadonlyMap<string, Clause> = new Map(all.map((clause) => [clause.id, clause]));
if (clauses.size !== all.length) throw new Error('two clauses have the same number');

export function clauseIds(...proofs: readonly Clause['proof'][]): readonly string[] {
  return all.filter(({ proof }) => proofs.includes(proof)).map(({ id }) => id);
}

interface Ending {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** What went wrong, in one line. */
  readonly reason?: string;
}

/** The clause numbers in the square brackets of a test's name: `… [R7.3 S4.token.8]`. */
export function clausesNamed(name: string): readonly string[] {
  const brackets = [...name.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] ?? '');
  return brackets.flatMap((text) => text.split(/[\s,]+/)).filter((word) => /^[RS]\d+\./.test(word));
}

/** Those of `known` that a passed test names; one that a failed test names too stays missing. */
export function proofOf(tests: readonly Ending[], known: readonly string[]) {
  const namedBy = (status: Ending['status']) =>
    new Set(tests.filter((test) => test.status === status).flatMap(({ name }) => clausesNamed(name)));
  const [passed, failed] = [namedBy('passed'), namedBy('failed')];
  const holds = (clause: string): boolean => passed.has(clause) && !failed.has(clause);
  return { proven: known.filter(holds), missing: known.filter((clause) => !holds(clause)) };
}

/** Which clauses a run counts: none, those that show over HTTP, or all; of all, each must have passed. */
type Scope = 'part' | 'contract' | 'whole';
const counted: Readonly<Record<Scope, readonly Clause['proof'][]>> = {
  part: [],
  contract: ['http'],
  whole: ['http', 'inside'],
};

export class ClauseReporter implements Reporter {
  #scope: Scope | undefined;
  #excused: ReadonlySet<string>;

  /** Without a scope, a run of chosen suites, files or names is a part. `excused`: clauses of suites that cannot run. */
  constructor(scope?: Scope, excused: ReadonlySet<string> = new Set()) {
    this.#scope = scope;
    this.#excused = excused;
  }

  onInit({ config }: Vitest): void {
    const suites = config.project.filter((name) => !name.startsWith('!'));
    const files = process.argv.slice(3).filter((word) => !word.startsWith('-'));
    const isWhole = suites.length === 0 && files.length === 0 && !config.testNamePattern;
    this.#scope ??= isWhole ? 'whole' : 'part';
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const { tests, problems } = runOf(modules, unhandled);
    const { lines, passed } = verdict(tests, problems, this.#scope ?? 'part', this.#excused);
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
export function verdict(
  tests: readonly Ending[],
  problems: readonly string[],
  scope: Scope,
  excused: ReadonlySet<string> = new Set(),
) {
  const of = (status: Ending['status']) => tests.filter((test) => test.status === status);
  const { proven, missing } = proofOf(tests, clauseIds(...counted[scope]));
  const refuted = new Set(of('failed').flatMap(({ name }) => clausesNamed(name)));
  const isMissed = (clause: string): boolean =>
    refuted.has(clause) || (scope === 'whole' && !excused.has(clause));
  const unproven = missing.filter(isMissed);
  const cited = new Set(tests.flatMap(({ name }) => clausesNamed(name)));
  const wrong = [
    ...of('failed').map(({ name, reason }) => `${name}\n       ${reason}`),
    ...problems,
    ...[...cited.difference(clauses)].map((clause) => `a test cites ${clause}, which no document holds`),
    ...unproven.map((clause) => `not proven ${clause}: ${clauses.get(clause)?.text}`),
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
