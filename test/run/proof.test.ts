// The clause count must not flatter.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clauses, sections } from '../contract/clauses/all.ts';
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

test('every clause has one place, and every file of clauses is in the list', () => {
  const all = sections.flatMap((section) => [
    ...Object.keys(section.outside),
    ...Object.keys(section.inside),
  ]);
  expect(new Set(all).size).toBe(all.length);
  const folder = new URL('../contract/clauses/', import.meta.url);
  const written = readdirSync(folder)
    .flatMap((file) => [
      ...readFileSync(new URL(file, folder), 'utf8').matchAll(/^ {4}'([RS]\d+\.[^']+)':/gm),
    ])
    .map((match) => match[1] ?? '');
  expect(written.sort()).toEqual([...clauses.keys()].sort());
});

test('rulings R1 to R31 all have clauses', () => {
  for (let ruling = 1; ruling <= 31; ruling++) {
    expect(
      [...clauses.keys()].some((clause) => clause.startsWith(`R${ruling}.`)),
      `R${ruling}`,
    ).toBe(true);
  }
});

test('a suite that is not there is refused with the names that are', () => {
  expect(() => selectSuites(['--only', 'everything'])).toThrow(/names from: check, unit/);
  expect(selectSuites(['--only', 'contract,unit']).suites).toEqual(['unit', 'contract']);
});
