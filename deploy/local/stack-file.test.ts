// The table stays readable whatever a --seed FILE brings.
import { expect, test } from 'vitest';
import type { SeedUser } from './seed-file.ts';
import { type StackFile, stackTable } from './stack-file.ts';

test('accounts are cut to a line each, without control characters, and hundreds are counted', () => {
  const user = (email: string) => ({ email, password: 'secret', about: 'somebody\u001b\n' }) as SeedUser;
  const users = [user(`${'x'.repeat(200)}@e.example`), ...Array(129).fill(user('user@example.com'))];
  const stack = { users, demoPartner: '', addresses: {}, logs: '/elsewhere/logs' } as unknown as StackFile;
  const lines = stackTable(stack).split('\n');
  const accounts = lines.slice(lines.indexOf('Demo accounts') + 1);
  expect(accounts[0]).toBe(`  ${'x'.repeat(71)}…  secret  somebody`);
  expect(accounts[30]).toBe('  … and 100 more, see stack.json');
  expect(lines.at(-1)).toContain('/elsewhere/stack.json');
});
