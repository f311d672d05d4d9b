// The clause count must not flatter.
import { expect, test } from 'vitest';
import { clauseIds, clauses, readClauses } from '../contract/clauses.ts';
import { clausesNamed, proofOf } from './proof.ts';
import { selectSuites } from './suites.ts';

test('clauses are read from brackets, and other brackets are left alone', () => {
  expect(clausesNamed('a code is used once [R9.2 S3.code.5] and a list [1] (R7)')).toEqual([
    'R9.2',
    'S3.code.5',
  ]);
});

test('only a passed test proves, a failed one takes the proof away, an unknown number is named', () => {
  const proof = proofOf(
    [
      { name: 'one [R1.1]', status: 'passed' },
      { name: 'two [R1.2]', status: 'skipped' },
      { name: 'three [R1.3]', status: 'passed' },
      { name: 'four [R1.3]', status: 'failed' },
      { name: 'five [R99.1]', status: 'passed' },
    ],
    ['R1.1', 'R1.2', 'R1.3', 'R1.4'],
  );
  expect(proof).toEqual({ proven: ['R1.1'], missing: ['R1.2', 'R1.3', 'R1.4'], unknown: ['R99.1'] });
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

test('rulings R1 to R33 and sections S1 to S9 all have clauses', () => {
  const whole = (letter: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${letter}${index + 1}`);
  const parts = new Set([...clauses.keys()].map((clause) => clause.split('.')[0]));
  expect([...whole('R', 33), ...whole('S', 9)].filter((part) => !parts.has(part))).toEqual([]);
});

test('a suite that is not there is refused with the names that are', () => {
  expect(() => selectSuites(['--only', 'everything'])).toThrow(/names from: check, unit/);
  expect(selectSuites(['--only', 'contract,unit']).suites).toEqual(['unit', 'contract']);
});
