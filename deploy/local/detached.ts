// Starts the supervisor in the background and returns when everything answers. The supervisor belongs to no terminal and
// holds no descriptor of the caller.
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { askStatus, askStop } from './control.ts';
import { commandFor, type RunDirectory, readJson } from './run-directory.ts';
import { type StackFile, stackTable } from './stack-file.ts';
import { backgroundMark, stopSignals } from './stop-requests.ts';

export async function startDetached(
  run: RunDirectory,
  words: readonly string[],
  say: (line: string) => void,
): Promise<number> {
  const logFile = join(run.logs, 'supervisor.log');
  const log = openSync(logFile, 'a', 0o600);
  const { size } = fstatSync(log);
  const others = words.filter((word) => word !== '--detach');
  const supervisor = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), ...others], {
    detached: true,
    stdio: ['ignore', log, log, ...coverInherited(log)],
    env: { ...process.env, [backgroundMark]: 'true' },
  });
  closeSync(log);
  supervisor.unref();
  let exitCode: number | undefined;
  let interrupted = false;
  supervisor.once('exit', (code) => {
    exitCode = interrupted ? 130 : code || 1;
  });
  for (const signal of stopSignals) {
    process.on(signal, () => {
      interrupted = true;
      void askStop(run);
    });
  }
  while (exitCode === undefined) {
    const status = await askStatus(run);
    if (status?.phase === 'ready' && status.pid === supervisor.pid) break;
    await sleep(100);
  }
  const said = readFileSync(logFile).subarray(size).toString('utf8');
  say(said.replace('The stack runs.\n', '').trimEnd());
  if (exitCode !== undefined) return exitCode;
  say(stackTable(readJson<StackFile>(run.stackFile)));
  say(`\nIt runs in the background. End it with: ${commandFor(run, 'stop')}`);
  return 0;
}

/** The log covers what is open above standard error: a caller's pipe would keep its reader waiting, a lock stay taken. */
function coverInherited(log: number): readonly number[] {
  if (process.platform !== 'linux') return [];
  const highest = Math.max(...readdirSync('/proc/self/fd').map(Number));
  return Array(highest - 2).fill(log);
}
