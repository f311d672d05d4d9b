// Ends processes in order, each known by its id and start time: an id may belong to another program by now. Also ends
// what a killed supervisor left behind.
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
