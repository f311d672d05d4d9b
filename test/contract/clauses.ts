// The clauses: the numbered sentences of docs/specification.md and docs/rulings.md, which bind the server. A test proves
// one by carrying its number in its name: `test('… [R7.3, R8.1]', …)`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Clause = {
  readonly id: string;
  readonly text: string;
  /** `http`: shows against any deployment; `inside`: in stores, processes or logs alone; `planned`: not proven yet. */
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

export interface TestEnding {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
}

/** The clause numbers in the square brackets of a test's name: `… [R7.3 S4.token.8]`. */
export function clausesNamed(name: string): readonly string[] {
  const brackets = [...name.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] ?? '');
  return brackets.flatMap((text) => text.split(/[\s,]+/)).filter((word) => /^[RS]\d+\./.test(word));
}

/** Those of `known` that a passed test names; one that a failed test names too stays missing. */
export function proofOf(
  tests: readonly TestEnding[],
  known: readonly string[],
): { readonly proven: readonly string[]; readonly missing: readonly string[] } {
  const namedBy = (status: TestEnding['status']) =>
    new Set(tests.filter((test) => test.status === status).flatMap(({ name }) => clausesNamed(name)));
  const [passed, failed] = [namedBy('passed'), namedBy('failed')];
  const holds = (clause: string): boolean => passed.has(clause) && !failed.has(clause);
  return { proven: known.filter(holds), missing: known.filter((clause) => !holds(clause)) };
}
