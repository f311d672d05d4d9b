import { expect, test } from 'vitest';
import { harmless, jsonText } from './terminal.ts';

const steering = 'a\u001b\u007f\u0085\u009f\u200e\u200f\u202a\u202e\u2066\u2069b';

test('what steers a terminal is replaced in text and escaped in JSON', () => {
  expect(harmless(steering)).toMatch(/^a�{10}b$/);
  const written = jsonText({ name: steering }, 2);
  expect(written).not.toMatch(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
  expect(written).toContain('\\u009f\\u200e');
  expect(JSON.parse(written)).toEqual({ name: steering });
});
