// Whoever starts the stack may be killed without a word: the stack notices and ends in order.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { entry, newRunDirectory } from '../support/stack.ts';
import { readStackFile } from '../support/stack-file.ts';
import { command, untilGone } from './local-command.ts';

const directory = newRunDirectory();
const stackFile = join(directory, 'stack.json');
const start = `"${process.execPath}" "${entry}" start --port 0 --run-dir "${directory}"`;

afterEach(async () => {
  await command(['stop', '--run-dir', directory]);
});
afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));

/** A program called npx that, as the real one does, has a shell between itself and what it runs. */
function npx(): string {
  const program = join(directory, 'bin', 'npx');
  mkdirSync(join(directory, 'bin'), { recursive: true });
  const script = `require('node:child_process').spawn('sh', ['-c', ${JSON.stringify(`${start}; true`)}], { stdio: 'inherit' });`;
  writeFileSync(program, script);
  return program;
}

const launchers: readonly (readonly [string, NodeJS.Signals, () => ChildProcess])[] = [
  [
    'a shell',
    'SIGKILL',
    () => spawn('sh', ['-c', `${start}; true`], { stdio: ['ignore', 'pipe', 'inherit'] }),
  ],
  ['npx', 'SIGTERM', () => spawn(process.execPath, [npx()], { stdio: ['ignore', 'pipe', 'inherit'] })],
];

test.each(launchers)('started by %s that ends by %s, all is gone within 10 s', async (_, signal, begin) => {
  const launcher = begin();
  let output = '';
  launcher.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8');
  });
  await expect.poll(() => output, { timeout: 60_000 }).toContain('Ctrl-C ends all of it.');
  const { processes } = readStackFile(stackFile);
  const { supervisor } = JSON.parse(readFileSync(stackFile, 'utf8')) as { supervisor: number };
  expect(supervisor).not.toBe(launcher.pid);
  launcher.kill(signal);
  await untilGone([...Object.values(processes ?? {}), supervisor], 10_000);
  expect(existsSync(stackFile)).toBe(false);
  expect(output).toContain('Stopping (the program that started it is gone)');
});
