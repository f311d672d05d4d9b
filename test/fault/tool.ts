// partnerctl as a program of its own, which a test ends in the middle of its work.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const main = join(import.meta.dirname, '../../services/partnerctl/src/main.ts');

export function startTool(...words: readonly string[]): ChildProcess {
  const { PATH = '', HOME = '/' } = process.env;
  return spawn(process.execPath, [main, ...words], { env: { PATH, HOME }, stdio: 'ignore' });
}

export async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

export function killed(child: ChildProcess): Promise<number | null> {
  child.kill('SIGKILL');
  return ended(child);
}
