// Calls the package manager of this workspace: the one that runs this script, which needs no network, else npm's copy.
import { spawn } from 'node:child_process';
import { basename, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

export interface Called {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function pnpm(words: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Called> {
  return new Promise((done, failed) => {
    const [program = 'npx', ...first] = manager(process.env.npm_execpath);
    const child = spawn(program, [...first, ...words], {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 300_000,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.on('error', failed);
    child.on('close', (status) => done({ status, stdout, stderr }));
  });
}

/** `running` is the package manager that started us, as it says in npm_execpath: a program, or a script for Node. */
function manager(running: string | undefined): readonly string[] {
  if (running === undefined || !/^pnpm\b/.test(basename(running))) return ['npx', '--yes', 'pnpm@12'];
  return /\.[cm]?js$/.test(running) ? [process.execPath, running] : [running];
}
