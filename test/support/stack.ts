// A whole private stack for black-box tests: separate ports and a directory, away from `.run`. It ends with
// the process that started it.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { statOf } from '@course-exchange/local-stack/shutdown';
import { ownStopwatch } from './own-time.ts';
import { startProcess } from './process.ts';
import { readStackFile } from './stack-file.ts';

export const entry = resolve(import.meta.dirname, '../../deploy/local/main.ts');

export type PrivateStack = Awaited<ReturnType<typeof startStack>>;

/**
 * Starts a stack and resolves when everything answers. `options` are further ones of `start`; a
 * process that a test kills is started again, after `--restart-after MS`.
 */
export async function startStack(options: readonly string[] = [], runDirectory = newRunDirectory()) {
  const words = [entry, 'start', '--port', '0', '--run-dir', runDirectory, ...options];
  const env = { ...process.env, STOP_WITH_PARENT: 'true' };
  const supervisor = spawn(process.execPath, words, { stdio: 'pipe', env });
  let output = '';
  for (const stream of [supervisor.stdout, supervisor.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  const ended = new Promise<number | null>((done) => supervisor.once('close', (code) => done(code)));
  const file = join(runDirectory, 'stack.json');
  const stop = async () => {
    supervisor.stdin.end();
    await ended;
    rmSync(runDirectory, { recursive: true, force: true, maxRetries: 10 });
  };
  while (!output.includes('Ctrl-C ends all of it.')) {
    if (supervisor.exitCode !== null || supervisor.signalCode !== null) {
      await stop();
      throw new Error(`The private stack did not start:\n${output}`);
    }
    await sleep(50);
  }
  return {
    description: readStackFile(file),
    file,
    runDirectory,
    /** All that the supervisor has printed so far. */
    output: () => output,
    supervisor,
    /** Signals one process of the stack by its name; `description` is read again, since a restart changes numbers. */
    signal: (name: string, signal: NodeJS.Signals) => {
      const pid = readStackFile(file).processes?.[name];
      if (pid === undefined) throw new Error(`The stack has no process ${name}.`);
      process.kill(pid, signal);
    },
    ended,
    stop,
  };
}

/** A directory through which Postgres' account reaches its data when the tests run as root. */
export function newRunDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'course-exchange-stack-'));
  chmodSync(directory, 0o711);
  return directory;
}

export async function command(words: readonly string[]) {
  const { exit: code, out, err } = await startProcess(process.execPath, [entry, ...words]).ended;
  return { code, output: out + err };
}

/** Milliseconds, of those that this process had, until none of `pids` is left. Rejects after `withinMs`. */
export async function untilGone(pids: readonly number[], withinMs: number): Promise<number> {
  const elapsed = ownStopwatch();
  while (pids.some(lives)) {
    if (elapsed() > withinMs) throw new Error(`Still there: ${pids.filter(lives).join(', ')}`);
    await sleep(20);
  }
  return elapsed();
}

/** A zombie does not count as a process. */
const lives = (pid: number): boolean => /^[^ZX]/.test(statOf(pid)?.[0] ?? '');
