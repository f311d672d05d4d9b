// Sockets lie where this account alone reaches them, however long the path of the run directory is.
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { operatorSocket } from './plan.ts';
import { openRunDirectory } from './run-directory.ts';

test.each([
  ['in the run directory', 'short', true],
  ['in a short directory where its path is too long', 'x'.repeat(100), false],
])('sockets lie %s, which is private', (_, name, inside) => {
  const home = mkdtempSync(join(tmpdir(), 'course-exchange-run-'));
  const socket = operatorSocket(openRunDirectory(join(home, name)), 'identity-operator');
  onTestFinished(() => {
    for (const path of [home, dirname(socket)]) rmSync(path, { recursive: true, force: true });
  });
  expect(socket.startsWith(home)).toBe(inside);
  expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(103);
  expect(statSync(dirname(socket))).toMatchObject({ mode: 0o040700, uid: process.getuid?.() });
  expect(operatorSocket(openRunDirectory(join(home, name)), 'identity-operator')).toBe(socket);
});

test('a link in place of the short directory is not followed', () => {
  const home = mkdtempSync(join(tmpdir(), 'course-exchange-run-'));
  const long = join(home, 'x'.repeat(100));
  const { sockets } = openRunDirectory(long);
  onTestFinished(() => {
    for (const path of [home, sockets]) rmSync(path, { recursive: true, force: true });
  });
  rmSync(sockets, { recursive: true });
  symlinkSync(home, sockets);
  expect(() => openRunDirectory(long)).toThrow(`${sockets} is no directory of this account`);
});
