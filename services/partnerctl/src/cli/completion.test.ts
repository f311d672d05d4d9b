import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { candidates, completionScripts } from './completion.ts';
import { createProgram } from './program.ts';

const program = createProgram();
const words = (...typed: string[]) => candidates(program, typed).map(({ word }) => word);

test('nouns, commands, options and choices are offered where they may come', () => {
  expect(words('c')).toEqual(['client', 'consent', 'completion']);
  expect(words('client', 'a')).toEqual(['approve', 'activate', 'apply']);
  expect(words('client', 'secret', '')).toEqual(['add', 'list', 'retire', 'resume']);
  expect(words('client', 'approve', 'acme', '--to', '')).toEqual(['draft', 'test', 'approved']);
  expect(words('client', 'secret', 'add', 'acme', '--e')).toEqual(['--expires-in', '--encrypt-to']);
  expect(words('client', 'deactivate', 'acme', '--y')).toEqual(['--yes']);
  expect(words('client', 'list', '--js')).toEqual(['--json']);
});

test('where a file or a value is expected nothing is offered, so that the shell offers files', () => {
  expect(words('client', 'register', '')).toEqual([]);
  expect(words('client', 'secret', 'add', 'acme', '--to-file', '')).toEqual([]);
});

test('bash itself completes', () => {
  const main = join(import.meta.dirname, '..', 'main.ts');
  const script = `
    partnerctl() { "$NODE" "$MAIN" "$@"; }
    ${completionScripts.bash}
    COMP_WORDS=(partnerctl client sec); COMP_CWORD=2
    _partnerctl
    printf '%s\\n' "\${COMPREPLY[@]}"
  `;
  const environment = { ...process.env, NODE: process.execPath, MAIN: main };
  const printed = execFileSync('bash', ['-c', script], { env: environment, encoding: 'utf8' });
  expect(printed).toBe('secret\n');
});
