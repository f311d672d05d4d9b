// Runs one command of the local stack to its end, as a person types it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { entry } from '../support/stack.ts';

export async function command(words: readonly string[]): Promise<{ code: number; output: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [entry, ...words]);
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}
