// What server processes use: CPU time over all their threads, as the kernel's scheduler counts it (nanoseconds; the
// ticks of /proc/PID/stat are 10 ms), and resident memory.
import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds of CPU that these processes have used so far. Threads that ended are missing: servers keep theirs. */
export function cpuMicroseconds(pids: readonly number[]): number {
  return pids.flatMap(threadsOf).reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1_000;
}

function threadsOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
  );
}

/** Resident memory in MiB. */
export function residentMebibytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Math.round(Number(kilobytes) / 1024);
}
