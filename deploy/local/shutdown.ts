// How a stack ends: what asks it to, and the order in which its processes stop. A process is known by its id and start
// time: an id may belong to another program by now.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunDirectory, readJson } from './run-directory.ts';

export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

export interface Stoppable extends ProcessIdentity {
  readonly name: string;
  readonly stopSignal: NodeJS.Signals;
  /** Lower ranks stop first: the stores have a higher one than the services that use them. */
  readonly rank: number;
}

export const graceMs = 3_000;

export function identify(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? startTimeOnLinux(pid) : startTimeElsewhere(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isAlive(known: ProcessIdentity): boolean {
  return identify(known.pid)?.startedAt === known.startedAt;
}

/** SIGKILL goes to the whole group, which cannot tidy up after itself. */
export function signalProcess(known: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(known)) return;
  try {
    process.kill(signal === 'SIGKILL' ? -known.pid : known.pid, signal);
  } catch {
    // It ended between the check and the signal.
  }
}

/** Resolves when none of `processes` is left. Each rank has `timeoutMs`, then it is killed. */
export async function stopInOrder(processes: readonly Stoppable[], timeoutMs = graceMs): Promise<void> {
  const ranks = [...new Set(processes.map(({ rank }) => rank))].sort((a, b) => a - b);
  for (const rank of ranks) {
    const group = processes.filter((one) => one.rank === rank);
    for (const one of group) signalProcess(one, one.stopSignal);
    if (await allGone(group, timeoutMs)) continue;
    for (const one of group) signalProcess(one, 'SIGKILL');
    await allGone(group, 2_000);
  }
}

async function allGone(processes: readonly ProcessIdentity[], timeoutMs: number): Promise<boolean> {
  for (const end = Date.now() + timeoutMs; processes.some(isAlive); await sleep(20))
    if (Date.now() > end) return false;
  return true;
}

/** Ends what an earlier run left, after its reaper had time to. Call only while holding the control socket. */
export async function endRecorded({ processesFile, stackFile }: RunDirectory): Promise<void> {
  const recorded = readJson<readonly Stoppable[]>(processesFile, []);
  if (!(await allGone(recorded, 7_000))) await stopInOrder(recorded);
  for (const file of [processesFile, stackFile]) rmSync(file, { force: true });
}

/** The fields of `/proc/PID/stat` from the process's state on. */
export function statOf(pid: number): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function startTimeOnLinux(pid: number): string | undefined {
  const stat = statOf(pid);
  return stat === undefined || /^[ZX]/.test(stat[0] ?? '') ? undefined : stat[19];
}

function startTimeElsewhere(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}

/** Set for the supervisor in the background: it outlives its parent and shows no passwords. */
export const backgroundMark = 'COURSE_EXCHANGE_IN_BACKGROUND';
export const isInBackground = process.env[backgroundMark] === 'true';

export const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** One press of Ctrl-C may arrive several times: npx and pnpm pass it on. */
const samePressMs = 1_000;

/** `hurry` is called when the person asks again while the stop is under way. */
export function hearStop(request: (signal: string) => void, hurry: () => void): void {
  let firstAt = Infinity;
  for (const signal of stopSignals) {
    process.on(signal, () => {
      firstAt = Math.min(firstAt, performance.now());
      if (performance.now() - firstAt > samePressMs) hurry();
      request(signal);
    });
  }
}

/**
 * Hears Ctrl-C, a closed terminal, a signal, and the end of the launchers: the parent, and npx, npm and pnpm above it,
 * which pass no signal on when they are killed.
 */
export function listenForStop(request: (reason: string) => void, hurry: () => void): void {
  hearStop(request, hurry);
  const began = launchers();
  const watch = () => launchers() === began || request('the program that started it is gone');
  if (!isInBackground) setInterval(watch, 1_000).unref();
  if (process.env.STOP_WITH_PARENT === 'true')
    process.stdin.resume().once('end', () => request('parent gone'));
}

/** npm writes its own title over its command line: `npm exec pnpm start`. */
const runner = /^([^\0]*\/)?(node\0([^\0]*\/)?)?(npm|npx|pnpm|pnpx|yarn|corepack)(-cli)?(\.[cm]?js)?[\0 ]/;
const shell = /^([^\0]*\/)?(sh|bash|dash|zsh|ash|ksh)\0-c\0/;

/** The parent, and the runners above it: the child of a dead process gets another parent. */
function launchers(): string {
  const found = [process.ppid];
  for (let pid = process.ppid, command = commandOf(pid); command !== ''; command = commandOf(pid)) {
    if (runner.test(command)) found.push(pid);
    else if (!shell.test(command)) break;
    pid = Number(statOf(pid)?.[1]);
  }
  return found.join();
}

/** Empty elsewhere than on Linux: the parent alone is watched there. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
