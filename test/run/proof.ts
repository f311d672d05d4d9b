// Compares the clauses that passed tests name with the list of clauses.
import type { TestResult } from './vitest-suite.ts';

export type Proof = {
  readonly proven: readonly string[];
  readonly missing: readonly string[];
  /** Numbers that tests cite and no list holds. */
  readonly unknown: readonly string[];
};

/** The clause numbers in the square brackets of a test's name: `… [R7.3 S4.token.8]`. */
export function clausesNamed(name: string): readonly string[] {
  const brackets = [...name.matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] ?? '');
  return brackets.flatMap((text) => text.split(/[\s,]+/)).filter((word) => /^[RS]\d+\./.test(word));
}

/** Only passed tests prove; a clause named by a failed or skipped test alone stays missing. */
export function proofOf(tests: readonly TestResult[], clauses: Iterable<string>): Proof {
  const known = [...clauses];
  const cited = new Set(tests.flatMap((test) => clausesNamed(test.name)));
  const proven = new Set(
    tests.filter((test) => test.status === 'passed').flatMap((test) => clausesNamed(test.name)),
  );
  const failed = new Set(
    tests.filter((test) => test.status === 'failed').flatMap((test) => clausesNamed(test.name)),
  );
  const holds = (clause: string): boolean => proven.has(clause) && !failed.has(clause);
  return {
    proven: known.filter(holds),
    missing: known.filter((clause) => !holds(clause)),
    unknown: [...cited].filter((clause) => !known.includes(clause)),
  };
}
