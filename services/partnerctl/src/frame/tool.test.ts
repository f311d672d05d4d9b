import { expect, test } from 'vitest';
import { runWords } from '../../testing/tool-run.ts';

const nowhere = ['--identity', '127.0.0.1:1', '--catalog', '127.0.0.1:1'];

test.each<{ name: string; words: readonly string[]; answer?: string }>([
  { name: 'a noun that does not exist', words: ['clinet', 'list'] },
  { name: 'a command that does not exist', words: ['client', 'lits'] },
  { name: 'an option that does not exist', words: ['client', 'list', '--actve'] },
  { name: 'an operand left out', words: ['client', 'show'] },
  { name: 'an operand too many', words: ['client', 'show', 'acme', 'beta'] },
  { name: 'a choice that is none', words: ['client', 'approve', 'acme', '--to', 'gone'] },
  {
    name: 'a length of time that is none',
    words: ['client', 'secret', 'add', 'acme', '--expires-in', 'soon', '--json'],
  },
  { name: 'a time that is none', words: ['audit', 'list', '--since', 'yesterday'] },
  { name: 'options that exclude each other', words: ['client', 'list', '--active', '--inactive'] },
  { name: 'a file that is not there', words: ['client', 'plan', '/nowhere/clients.yaml'] },
  { name: 'a file of users that is not there', words: ['user', 'import', '/nowhere/users.ndjson'] },
  { name: 'a file of designs that is not there', words: ['designs', 'import', '/nowhere/designs.ndjson'] },
  { name: 'an export that has no place', words: ['client', 'export', '--out', '/nowhere/clients.yaml'] },
  { name: 'an address that is none', words: ['client', 'list', '--identity', 'here'] },
  { name: 'a stack file that is not there', words: ['client', 'list', '--stack', '/nowhere/stack.json'] },
  { name: 'nothing that answers', words: ['client', 'list', ...nowhere] },
  { name: 'nothing that answers, as JSON', words: ['client', 'list', '--json', ...nowhere] },
  { name: 'a secret into a pipe', words: ['client', 'secret', 'add', 'acme', ...nowhere] },
  { name: 'a question without a terminal', words: ['client', 'deactivate', 'acme', ...nowhere] },
  { name: 'a question answered with no', words: ['user', 'disable', 'u_1', ...nowhere], answer: 'n' },
  { name: 'a question answered with yes', words: ['user', 'disable', 'u_1', ...nowhere], answer: 'y' },
  { name: 'a consent of nobody', words: ['consent', 'list'] },
  { name: 'a shell without completion', words: ['completion', 'tcsh'] },
  {
    name: 'a contact that is none',
    words: ['client', 'register', '--client-id', 'acme', '--technical-contact', 'Ann'],
  },
  {
    name: 'the way of a secret that is not made',
    words: ['client', 'register', 'acme.yaml', '--to-file', 'acme.age', '--expires-in', '90d'],
  },
  { name: 'an operator of no name', words: ['client', 'list', '--operator', 'Zoë'] },
  { name: 'a client without identifier', words: ['client', 'register'] },
])('the message about $name is as written down', async ({ name, words, ...options }) => {
  const { exit, out, err } = await runWords(words, options);
  const told = `$ partnerctl ${words.join(' ')}\n${err}exit code ${exit}\n`;
  expect(out).toBe('');
  await expect(told).toMatchFileSnapshot(
    `../../testing/golden/errors/${name.replaceAll(/[^a-zA-Z]+/g, '-')}.txt`,
  );
});

test('a noun alone prints its help to standard error and ends with 2', async () => {
  const { exit, out, err } = await runWords(['client']);
  expect({ exit, out }).toEqual({ exit: 2, out: '' });
  expect(err).toMatch(/^Usage: partnerctl client <command>/);
});
