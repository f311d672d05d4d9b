// What a run of the contract suite comes to: the failed tests, and one line with the count of clauses.
import type { SerializedError } from 'vitest';
import type { TestModule } from 'vitest/node';
import { clauseIds, clauses } from '../../test/contract/clauses.ts';
import { clausesNamed, proofOf } from '../../test/run/proof.ts';

interface TestEnding {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** What went wrong, in one line. */
  readonly reason?: string;
}

export interface Run {
  readonly tests: readonly TestEnding[];
  /** What went wrong outside of a test. */
  readonly problems: readonly string[];
}

export function testsOf(modules: readonly TestModule[], unhandled: readonly SerializedError[]): Run {
  const cases = modules.flatMap((module) => [...module.children.allTests()]);
  return {
    tests: cases.map((test) => {
      const { state, errors } = test.result();
      const status = state === 'passed' || state === 'failed' ? state : 'skipped';
      return { name: test.fullName, status, ...(errors ? { reason: firstLine(errors[0]) } : {}) };
    }),
    problems: [
      ...modules.flatMap((module) =>
        module.errors().map((error) => `${module.relativeModuleId}: ${firstLine(error)}`),
      ),
      ...unhandled.map(firstLine),
    ],
  };
}

function firstLine(error: { readonly message?: string } | undefined): string {
  return (error?.message ?? 'no reason given').split('\n')[0] ?? '';
}

/** The lines to print, the count last. A run without tests, or with none that passed, has not passed. */
export function linesOf({ tests, problems }: Run): {
  readonly lines: readonly string[];
  readonly passed: boolean;
} {
  const of = (status: TestEnding['status']) => tests.filter((test) => test.status === status);
  const failed = of('failed');
  const known = clauseIds('http');
  const { proven, missing } = proofOf(tests, known);
  const broken = new Set(failed.flatMap(({ name }) => clausesNamed(name)));
  const refuted = missing.filter((clause) => broken.has(clause));
  const skipped = missing.length - refuted.length;
  const lines = [
    ...failed.map(({ name, reason }) => `FAILED ${name}\n       ${reason}`),
    ...problems.map((problem) => `FAILED ${problem}`),
    ...refuted.map((clause) => `not held ${clause}: ${clauses.get(clause)?.text}`),
    `${known.length} clauses: ${proven.length} proven, ${skipped} skipped, ${refuted.length} failed` +
      ` (tests: ${of('passed').length} passed, ${of('skipped').length} skipped, ${failed.length} failed)`,
  ];
  return { lines, passed: failed.length === 0 && problems.length === 0 && proven.length > 0 };
}
