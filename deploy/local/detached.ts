// Starts the supervisor in the background and returns when everything answers. The supervisor belongs to no
// terminal and holds no descriptor of the caller.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { askStatus, askStop } from './control.ts';
import { commandFor, type RunDirectory } from './run-directory.ts';
import type { StackFile } from './stack-file.ts';
import { stackTable } from './table.ts';

/** Set for the supervisor in the background: it outlives its parent and shows no passwords. */
export const backgroundMark = 'COURSE_EXCHANGE_IN_BACKGROUND';

/** `words` is the command line without --detach. Resolves with the exit code. */
export async function startDetached(
  run: RunDirectory,
  entry: string,
  words: readonly string[],
  say: (line: string) => void,
): Promise<number> {
  const logFile = join(run.logs, 'supervisor.log');
  const log = openSync(logFile, 'a', 0o600);
  const offset = statSync(logFile).size;
  const supervisor = spawn(process.execPath, [entry, ...words], {
    detached: true,
    stdio: descriptors(log),
    env: { ...process.env, [backgroundMark]: 'true' },
  });
  closeSync(log);
  supervisor.unref();
  let exitCode: number | undefined;
  supervisor.once('exit', (code) => {
    exitCode = code ?? 1;
  });
  supervisor.once('error', () => {
    exitCode = 1;
  });
  let given = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      given = true;
      void askStop(run);
    });
  }
  while (exitCode === undefined) {
    const status = await askStatus(run);
    if (status?.phase === 'ready' && status.pid === supervisor.pid) break;
    await sleep(100);
  }
  const said = readFileSync(logFile).subarray(offset).toString('utf8');
  say(said.replace('The stack runs.\n', '').trimEnd());
  if (exitCode !== undefined) return given ? 130 : exitCode || 1;
  say(stackTable(JSON.parse(readFileSync(run.stackFile, 'utf8')) as StackFile));
  say(`\nIt runs in the background. End it with: ${commandFor(run, 'stop')}`);
  return 0;
}

/**
 * Output goes to `log`. What else the caller left open, whatever its number, is covered by the log too: a pipe
 * of the caller that stayed open here would keep its reader waiting for ever.
 */
function descriptors(log: number): ('ignore' | number)[] {
  const covered: ('ignore' | number)[] = ['ignore', log, log];
  for (const descriptor of inheritedDescriptors()) {
    while (covered.length <= descriptor) covered.push('ignore');
    covered[descriptor] = log;
  }
  return covered;
}

const closeOnExec = 0o2_000_000;

/** Those above standard error that a child would inherit; Node's own are not among them. */
function inheritedDescriptors(): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInherited(descriptor));
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '';
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false;
  }
}
