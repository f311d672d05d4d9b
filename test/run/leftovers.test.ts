// A suite that leaves directories behind is found out.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { leftovers } from './leftovers.ts';

test('what tests of ours left is named and removed, what other tools keep is not', () => {
  const directory = mkdtempSync(join(tmpdir(), 'course-exchange-leftovers-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const name of ['env-x1', 'course-exchange-stack-y2', 'playwright-z3', 'environment'])
    mkdirSync(join(directory, name));
  expect(leftovers(directory)).toEqual(['course-exchange-stack-y2', 'env-x1']);
  expect(readdirSync(directory).sort()).toEqual(['environment', 'playwright-z3']);
});
