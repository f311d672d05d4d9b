// Sockets lie where this account alone reaches them, however long the path of the run directory is.
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { operatorSocket } from './plan.ts';
import { openRunDirectory } from './run-directory.ts';

const home = mkdtempSync(join(tmpdir(), 'course-exchange-run-'));
const made = new Set([home]);
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true });
});

/** Where operators are answered in a run directory at `path`. */
function socketIn(path: string): string {
  const socket = operatorSocket(openRunDirectory(path), 'identity-operator');
  made.add(dirname(socket));
  return socket;
}

test('sockets lie in the run directory', () => {
  expect(socketIn(join(home, 'short'))).toBe(join(home, 'short/sockets/identity-operator'));
  expect(statSync(join(home, 'short/sockets')).mode & 0o777).toBe(0o700);
});

test('where its path is too long, in a short directory that is as private and stays', () => {
  const long = join(home, 'x'.repeat(100));
  // As an earlier version left it.
  mkdirSync(join(long, 'sockets'), { recursive: true });
  const socket = socketIn(long);
  expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(103);
  expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
  expect(statSync(dirname(socket)).uid).toBe(process.getuid?.());
  writeFileSync(socket, '');
  expect(socketIn(long)).toBe(socket);
  expect(statSync(join(long, 'sockets/identity-operator')).isFile()).toBe(true);
});

test('a copy of such a run directory has sockets of its own, and one whose directory is gone has new ones', () => {
  const long = join(home, 'y'.repeat(100));
  const socket = socketIn(long);
  cpSync(long, `${long}z`, { recursive: true, verbatimSymlinks: true });
  expect(dirname(socketIn(`${long}z`))).not.toBe(dirname(socket));
  rmSync(dirname(socket), { recursive: true });
  expect(dirname(socketIn(long))).not.toBe(dirname(socket));
});
