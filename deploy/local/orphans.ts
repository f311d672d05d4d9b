// Writes down what was started, and ends what a supervisor that was killed has left.
import { existsSync, readFileSync } from 'node:fs';
import { allGone, type Stoppable, stopInOrder } from './orderly-stop.ts';
import { type RunDirectory, removeFile, writeWhole } from './run-directory.ts';

export function writeDown(run: RunDirectory, processes: readonly Stoppable[]): void {
  const known = processes.map(({ name, pid, startedAt, stopSignal, rank }) => ({
    name,
    pid,
    startedAt,
    stopSignal,
    rank,
  }));
  writeWhole(run.processesFile, known);
}

/**
 * Call only while holding the control socket. Resolves when no process of an earlier run is left; its warden
 * is given time to end them first. A number that now belongs to another process is left alone.
 */
export async function endOrphans(run: RunDirectory): Promise<void> {
  const orphans = readOrphans(run);
  if (!(await allGone(orphans, orphans.length > 0 ? 7_000 : 0))) await stopInOrder(orphans, 3_000);
  for (const file of [run.processesFile, run.stackFile]) removeFile(file);
}

function readOrphans(run: RunDirectory): readonly Stoppable[] {
  if (!existsSync(run.processesFile)) return [];
  try {
    return JSON.parse(readFileSync(run.processesFile, 'utf8')) as readonly Stoppable[];
  } catch {
    return [];
  }
}
