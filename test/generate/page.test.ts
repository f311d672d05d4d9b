// A generated part replaces itself alone, and keeps the prose beside what code knows.
import { expect, test } from 'vitest';
import { jsonText } from './json-text.ts';
import { tableWithProse, unwritten, withParts } from './page.ts';

const page = ['# Page', '<!-- generated: list -->', '', 'old', '', '<!-- end -->', 'After.'].join('\n');

test('a part is made anew from what stands in its place, and the rest of the page stays', () => {
  const made = withParts(page, { list: (before) => before.trim().toUpperCase() });
  expect(made).toBe(page.replace('old', 'OLD'));
});

test('a part that nobody generates and one that the page lacks are refused', () => {
  expect(() => withParts(page, {})).toThrow('nobody generates "list"');
  expect(() => withParts(page, { list: String, other: String })).toThrow('the page has no part "other"');
});

test('prose stays with its row, a new row waits for prose, and a row that is gone goes', () => {
  const before = [
    '| a | b | prose |',
    '|---|---|---|',
    '| two | 2 | second |',
    '| one | 1 | a \\| b |',
    '| old | 0 | x |',
  ];
  expect(
    tableWithProse(
      before.join('\n'),
      ['a', 'b', 'prose'],
      [
        ['one', '9'],
        ['two', '2'],
        ['new', '3'],
      ],
    ).split('\n'),
  ).toEqual([
    '| a | b | prose |',
    '|---|---|---|',
    '| two | 2 | second |',
    '| one | 9 | a \\| b |',
    `| new | 3 | ${unwritten} |`,
  ]);
});

test('JSON is written with one line for what fits into one', () => {
  const long = 'x'.repeat(90);
  expect(jsonText({ a: { b: [1] }, c: { [long]: 1, d: {} } })).toBe(
    `{\n  "a": { "b": [1] },\n  "c": {\n    "${long}": 1,\n    "d": {}\n  }\n}`,
  );
});
