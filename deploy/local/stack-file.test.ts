// The tables stay readable whatever a --seed FILE brings, and say when something does not answer.
import { expect, test } from 'vitest';
import type { SeedUser } from './seed-file.ts';
import { type StackFile, stackTable, statusTable } from './stack-file.ts';

const stack = {
  issuer: 'http://127.0.0.1:1',
  demoPartner: 'http://localhost:2',
  addresses: { gateway: 'http://127.0.0.1:1' },
  logs: '/elsewhere/logs',
} as unknown as StackFile;

function accounts(...users: readonly Partial<SeedUser>[]): string[] {
  const whole = users.map((user) => ({ password: 'secret', about: 'somebody', ...user }) as SeedUser);
  const lines = stackTable({ ...stack, users: whole }).split('\n');
  return lines.slice(lines.indexOf('Demo accounts') + 1);
}

test('one long e-mail neither widens the rows of others nor runs on for ever', () => {
  const [anna = '', long = ''] = accounts(
    { email: 'anna@example.com' },
    { email: `${'x'.repeat(200)}@e.example` },
  );
  expect(anna).toHaveLength('  '.length + 32 + '  secret  somebody'.length);
  expect(long).toHaveLength('  '.length + 72 + '  secret  somebody'.length);
  expect(long).toContain('…  secret');
});

test('hundreds of accounts are counted, not listed', () => {
  const lines = accounts(
    ...Array.from({ length: 130 }, (_, index) => ({ email: `user-${index}@example.com` })),
  );
  expect(lines.slice(29, 31)).toEqual([
    expect.stringContaining('user-29@'),
    '  … and 100 more, see stack.json',
  ]);
});

test('the table names the files of its own run directory', () => {
  expect(stackTable({ ...stack, users: [] })).toContain('/elsewhere/stack.json');
});

test('a stack is ready when all of it answers, else degraded', () => {
  const report = (state: string) => ({
    pid: 1,
    phase: 'ready' as const,
    issuer: 'http://127.0.0.1:1',
    processes: [{ name: 'redis', pid: 2, address: '127.0.0.1:3', state }],
  });
  expect(statusTable(report('answers'))).toMatch(/^http:\/\/127\.0\.0\.1:1 is ready\.\n/);
  expect(statusTable(report('It does not answer.'))).toMatch(/^http:\/\/127\.0\.0\.1:1 is degraded\.\n/);
});
