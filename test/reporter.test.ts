// The clause count must not flatter.
import { expect, test } from 'vitest';
import { clauseIds, clauses, clausesNamed, proofOf, readClauses, verdict } from './contract/reporter.ts';

test('clauses are read from brackets, and other brackets are left alone', () => {
  expect(clausesNamed('a code is used once [R9.2 S3.code.5] and a list [1] (R7)')).toEqual([
    'R9.2',
    'S3.code.5',
  ]);
});

const endings = [
  { name: 'one [R1.1]', status: 'passed' },
  { name: 'two [R1.2]', status: 'skipped' },
  { name: 'three [R1.3]', status: 'passed' },
  { name: 'four [R1.3]', status: 'failed', reason: 'expected 400' },
] as const;

test('only a passed test proves, and a failed one takes the proof away', () => {
  expect(proofOf(endings, ['R1.1', 'R1.2', 'R1.3', 'R1.4'])).toEqual({
    proven: ['R1.1'],
    missing: ['R1.2', 'R1.3', 'R1.4'],
  });
});

test('failures stand before the count, and an unproven clause fails a whole run alone', () => {
  const [held, skipped] = endings;
  expect(verdict([held, skipped], [], 'contract').passed).toBe(true);
  expect(verdict([held, skipped], [], 'whole').passed).toBe(false);
  const { lines, passed } = verdict(endings, ['a.test.ts: no module'], 'part');
  expect(passed).toBe(false);
  expect(lines).toEqual([
    'FAILED four [R1.3]\n       expected 400',
    'FAILED a.test.ts: no module',
    '1 tests skipped',
    '2 passed, 2 failed',
  ]);
});

test('a run without a passed test has not passed, and a clause that no document holds is named', () => {
  expect(verdict([endings[1]], [], 'contract').passed).toBe(false);
  const unclaimed = [{ name: 'no clause', status: 'passed' }] as const;
  expect(verdict(unclaimed, [], 'contract').passed).toBe(false);
  expect(verdict(unclaimed, [], 'part').passed).toBe(true);
  const { lines } = verdict([{ name: 'five [R99.1]', status: 'passed' }], [], 'part');
  expect(lines[0]).toBe('FAILED a test cites R99.1, which no document holds');
});

test('a whole run misses every clause but those of suites that cannot run', () => {
  const [clause = ''] = clauseIds('http');
  const missed = (excused: ReadonlySet<string>) =>
    verdict([{ name: 'no clause', status: 'passed' }], [], 'whole', excused).lines.filter((line) =>
      line.startsWith(`FAILED not proven ${clause}:`),
    );
  expect(missed(new Set())).toHaveLength(1);
  expect(missed(new Set([clause]))).toHaveLength(0);
});

test('a clause is a list item with its number as anchor, and a line in another form is refused', () => {
  const document = [
    '## <a id="R1"></a>R1 Order',
    '- <a id="R1.1"></a>**R1.1** One',
    '  and a half.',
    'No clause.',
    '- <a id="S2.event.2"></a>**S2.event.2** *(planned)* Two.',
  ].join('\n');
  expect(readClauses(document)).toEqual([
    { id: 'R1.1', text: 'One and a half.', proof: 'http' },
    { id: 'S2.event.2', text: 'Two.', proof: 'planned' },
  ]);
  for (const broken of ['<a id="R1.1"></a>One', '- <a id="R1.1"></a>**R1.2** One'])
    expect(() => readClauses(broken)).toThrow(/not in the form of a clause/);
});

test('the documents hold clauses that show over HTTP, and others', () => {
  for (const proof of ['http', 'inside'] as const) expect(clauseIds(proof).length, proof).toBeGreaterThan(5);
});

test('every ruling and every section has clauses', () => {
  const whole = (letter: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
  const parts = new Set([...clauses.keys()].map((clause) => clause.split('.')[0]));
  expect([...whole('R', 34), ...whole('S', 9)].filter((part) => !parts.has(part))).toEqual([]);
});
