// The count of the contract image: what it adds up, and when it does not pass.
import { expect, test } from 'vitest';
import { clauseIds } from '../../test/contract/clauses.ts';
import { linesOf } from './verdict.ts';

const passed = { name: 'one [R1.1]', status: 'passed' } as const;
const skipped = { name: 'two [R1.2]', status: 'skipped' } as const;
const failed = { name: 'three [R1.3]', status: 'failed', reason: 'expected 400' } as const;
const all = clauseIds('http').length;

test('clauses are proven, skipped or failed, and the count is the last line', () => {
  const { lines, passed: holds } = linesOf({ tests: [passed, skipped, failed], problems: [] });
  expect(holds).toBe(false);
  expect(lines[0]).toBe('FAILED three [R1.3]\n       expected 400');
  expect(lines[1]).toMatch(/^not held R1\.3: /);
  expect(lines.at(-1)).toBe(
    `${all} clauses: 1 proven, ${all - 2} skipped, 1 failed (tests: 1 passed, 1 skipped, 1 failed)`,
  );
});

test('skipped tests are no failure, but a run that proves nothing is', () => {
  expect(linesOf({ tests: [passed, skipped], problems: [] }).passed).toBe(true);
  expect(linesOf({ tests: [skipped], problems: [] }).passed).toBe(false);
  expect(linesOf({ tests: [], problems: [] }).passed).toBe(false);
});

test('an error outside of a test fails the run', () => {
  const { lines, passed: holds } = linesOf({ tests: [passed], problems: ['a.test.ts: no module'] });
  expect(holds).toBe(false);
  expect(lines).toContain('FAILED a.test.ts: no module');
});
