// A whole private stack for black-box tests: ports and a directory of its own, away from `.run`. It ends with
// the process that started it.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readStackFile, type StackFile } from './stack-file.ts';

export const entry = resolve(import.meta.dirname, '../../deploy/local/main.ts');

export interface PrivateStack {
  readonly description: StackFile;
  /** Path of its stack.json. */
  readonly file: string;
  readonly runDirectory: string;
  /** All that the supervisor has printed so far. */
  readonly output: () => string;
  readonly supervisor: ChildProcess;
  /** Signals one process of the stack by its name; `description` is read anew, since a restart changes numbers. */
  readonly signal: (name: string, signal: NodeJS.Signals) => void;
  /** Resolves with the exit code when the supervisor is gone. */
  readonly ended: Promise<number | null>;
  /** Ends the stack and deletes its data. */
  readonly stop: () => Promise<void>;
}

/**
 * Starts a stack and resolves when everything answers. `words` are further options of `start`; a
 * process that a test kills is started again, after `--restart-after MS`.
 */
export async function startStack(
  words: readonly string[] = [],
  runDirectory = newRunDirectory(),
): Promise<PrivateStack> {
  const supervisor = spawn(
    process.execPath,
    [entry, 'start', '--port', '0', '--run-dir', runDirectory, ...words],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, STOP_WITH_PARENT: 'true' },
    },
  );
  let output = '';
  for (const stream of [supervisor.stdout, supervisor.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
  }
  const ended = new Promise<number | null>((done) => supervisor.once('close', (code) => done(code)));
  const file = join(runDirectory, 'stack.json');
  const stop = async () => {
    supervisor.stdin.end();
    await ended;
    rmSync(runDirectory, { recursive: true, force: true });
  };
  while (!output.includes('Ctrl-C ends all of it.')) {
    if (supervisor.exitCode === null && supervisor.signalCode === null) {
      await sleep(50);
      continue;
    }
    await stop();
    throw new Error(`The private stack did not start:\n${output}`);
  }
  return {
    description: readStackFile(file),
    file,
    runDirectory,
    output: () => output,
    supervisor,
    signal: (name, signal) => {
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
