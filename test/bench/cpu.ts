// CPU time of processes, as the kernel counts it.
import { readFileSync } from 'node:fs';

/** Microseconds of CPU that these processes have used so far, user and system together. */
function cpuMicroseconds(pids: readonly number[]): number {
  return pids.map(ofProcess).reduce((sum, used) => sum + used, 0);
}

/** The kernel counts in ticks of 10 ms: measure long enough. */
function ofProcess(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Resident memory in MiB. */
export function residentMebibytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Math.round(Number(kilobytes) / 1024);
}

/** Runs `work` `count` times in `lanes` at once and gives the CPU time that `pids` used for each. */
export async function costOf(
  pids: readonly number[],
  count: number,
  lanes: number,
  work: (lane: number) => Promise<void>,
): Promise<number> {
  let left = count;
  const before = cpuMicroseconds(pids);
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      while (left-- > 0) await work(lane);
    }),
  );
  return (cpuMicroseconds(pids) - before) / count;
}
