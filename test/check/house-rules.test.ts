// Proves that each rule of the house fires on what it forbids and lets pass what it allows.
import { expect, test } from 'vitest';
import { breaches, folderBreaches } from './house-rules.ts';

const opening = '// Owns something.\n';

const path = 'services/identity/src/grants/code.ts';
const injected = 'clock and randomness come in as parameters; main and runtime read them';

test.each([
  ['/* TODO: later */', 'what is unfinished belongs into an issue'],
  ['// @ts-ignore', 'the type checker is obeyed, not silenced'],
  ['Date.now()', injected],
  ["import { createHash, randomBytes } from 'node:crypto';", injected],
  ['process.env.PORT', 'the environment is read by main and runtime'],
])('%j is a breach', (line, says) => {
  expect(breaches(path, opening + line)).toEqual([`${path}:2: ${says}`]);
});

test('a file without an opening comment or with a vague name is a breach', () => {
  expect(breaches('services/gateway/src/app.ts', 'const a = 1;')).toEqual([
    'services/gateway/src/app.ts:1: a file begins with a comment that says what it owns',
  ]);
  expect(breaches('services/gateway/src/utils/text.ts', opening)).toEqual([
    'services/gateway/src/utils/text.ts: folders and files are nouns of the product',
  ]);
});

test('a name of a test with more than 100 characters is a breach, its clauses aside', () => {
  const named = (length: number) => breaches('test/x.test.ts', `test('${'x'.repeat(length)} [R1.1]', run);`);
  expect(named(101)).toHaveLength(1);
  expect(named(100)).toEqual([]);
});

test('a file of more than 250 lines is a breach', () => {
  const text = opening + 'a;\n'.repeat(250);
  expect(breaches('services/gateway/src/app.ts', text)).toHaveLength(1);
  expect(breaches('services/gateway/src/app.ts', text.replace('a;\n', ''))).toEqual([]);
});

test.each([
  ['services/identity/src/main.ts', 'Date.now(); process.env.A'],
  ['services/runtime/src/process/settings.ts', 'process.env; randomUUID()'],
  ['services/identity/src/ids.ts', 'newId(randomBytes: RandomBytes) { randomBytes(16) }'],
  ['services/identity/migrations/0001-users.sql', 'select 1'],
  ['services/identity/src/grants/code.ts', 'const anyone = new Date(now);'],
])('%s with %j passes', (path, line) => {
  expect(breaches(path, path.endsWith('.sql') ? `-- Owns users.\n${line}` : opening + line)).toEqual([]);
});

test('a folder of a service has one file that says what lives there', () => {
  const files = ['services/identity/src/token/grant.ts', 'services/identity/src/token/jwt.ts'];
  const says = '// token/ redeems.\n\n';
  const breachesOf = (...texts: string[]) =>
    folderBreaches(new Map(files.map((file, nth) => [file, texts[nth] ?? ''])));
  expect(breachesOf(says, opening)).toEqual([]);
  expect(breachesOf(opening, opening)).toHaveLength(1);
  expect(breachesOf(says, says)).toHaveLength(1);
  expect(folderBreaches(new Map([['services/identity/src/main.ts', opening]]))).toEqual([]);
});
