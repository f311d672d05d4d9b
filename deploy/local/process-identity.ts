// Tells a process from a later one that was given the same number, so that nothing foreign is ever signalled.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process at one time on this machine: its number and when it started, as the system writes it. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}

/** The process with this number now; undefined when there is none or only its unread exit is left. */
export function identify(pid: number): ProcessIdentity | undefined {
  const startedAt = process.platform === 'linux' ? startTimeOnLinux(pid) : startTimeElsewhere(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isAlive(known: ProcessIdentity): boolean {
  return identify(known.pid)?.startedAt === known.startedAt;
}

/** Sends `signal` to exactly this process; to its whole group with SIGKILL, since a group cannot tidy up then. */
export function signalProcess(known: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(known)) return;
  try {
    process.kill(signal === 'SIGKILL' ? -known.pid : known.pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}

function startTimeOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Fields after the name, which may hold spaces and brackets: state is the 3rd, start time the 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function startTimeElsewhere(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}
