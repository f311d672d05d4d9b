import { expect, test } from 'vitest';
import { jsonText } from '../output/result.ts';
import { sanitize } from './terminal.ts';

const controls = 'a\u001b\u007f\u0085\u009f\u200e\u200f\u202a\u202e\u2066\u2069b';

test('what controls a terminal is replaced in text and escaped in JSON', () => {
  expect(sanitize(controls)).toMatch(/^a�{10}b$/);
  const text = jsonText({ name: controls }, 2);
  expect(text).not.toMatch(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
  expect(text).toContain('\\u009f\\u200e');
  expect(JSON.parse(text)).toEqual({ name: controls });
});
