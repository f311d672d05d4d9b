// Calls the package manager of this workspace.
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

export interface Called {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function pnpm(words: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Called> {
  return new Promise((done, failed) => {
    const child = spawn('npx', ['--yes', 'pnpm@12', ...words], {
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
