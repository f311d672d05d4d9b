// One step of the check: a name and something that passes or says what is wrong.
import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';

export interface StepResult {
  readonly passed: boolean;
  /** What a reader needs to mend it; shown only when the step failed. */
  readonly output: string;
  /** What is missing on this machine, when the step could not be run. */
  readonly notRun?: string;
}

export interface Step {
  readonly name: string;
  readonly run: () => Promise<StepResult>;
}

/** The repository's root directory. */
export const root = join(import.meta.dirname, '../..');

/** A step that runs a tool of the workspace, else of the PATH, in the root directory; passes when it ends with 0. */
export function command(tool: string, ...parameters: string[]): () => Promise<StepResult> {
  const tools = ['', 'proto'].map((directory) => join(root, directory, 'node_modules/.bin'));
  const env = { ...process.env, PATH: [...tools, process.env.PATH].join(delimiter), NO_COLOR: '1' };
  return () =>
    new Promise((resolve, reject) => {
      const child = spawn(tool, parameters, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
      const chunks: Buffer[] = [];
      child.stdout.on('data', (chunk) => chunks.push(chunk));
      child.stderr.on('data', (chunk) => chunks.push(chunk));
      child.on('error', reject);
      child.on('close', (code) => resolve({ passed: code === 0, output: Buffer.concat(chunks).toString() }));
    });
}

/** Paths of all tracked and new files, relative to the root directory. */
export async function sourceFiles(): Promise<readonly string[]> {
  const listed = await command('git', 'ls-files', '--cached', '--others', '--exclude-standard')();
  if (!listed.passed) throw new Error(listed.output);
  return listed.output.trim().split('\n');
}
