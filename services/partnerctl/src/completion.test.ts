import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { candidateLines, completionScripts } from './completion.ts';
import { createProgram } from './program.ts';

const program = createProgram();

test.each([
  ['c', 'client consent completion'],
  ['client a', 'approve activate apply'],
  ['client secret ', 'add list retire resume'],
  ['client approve acme --to ', 'draft test approved'],
  ['client secret add acme --e', '--expires-in --encrypt-to'],
  ['client list --js', '--json'],
  ['ex', 'explain'],
  ['refusals list --c', '--client --code --catalog'],
  // The shell offers files.
  ['client register ', ''],
  ['client secret add acme --to-file ', ''],
])('`%s` is completed by %s', (typed, words) => {
  const lines = candidateLines(program, typed.split(' ')).split('\n').slice(0, -1);
  expect(lines.map((line) => line.replace(/\t.*/, '')).join(' ')).toBe(words);
});

test('bash itself completes', () => {
  const main = join(import.meta.dirname, 'main.ts');
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
