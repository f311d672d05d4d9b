// Ends processes in order: lower ranks first, each asked to stop and killed when it does not.
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, type ProcessIdentity, signalProcess } from './process-identity.ts';

/** A process and how it is ended: with which signal, and after which others. */
export interface Stoppable extends ProcessIdentity {
  readonly name: string;
  readonly stopSignal: NodeJS.Signals;
  /** Stores have a higher rank than their users: they stop last. */
  readonly rank: number;
}

/** Resolves when none of `processes` is left. Each rank has `graceMs` milliseconds, then it is killed. */
export async function stopInOrder(processes: readonly Stoppable[], graceMs: number): Promise<void> {
  const ranks = [...new Set(processes.map(({ rank }) => rank))].sort((a, b) => a - b);
  for (const rank of ranks) {
    const group = processes.filter((one) => one.rank === rank);
    for (const one of group) signalProcess(one, one.stopSignal);
    if (await allGone(group, graceMs)) continue;
    for (const one of group) signalProcess(one, 'SIGKILL');
    await allGone(group, 2_000);
  }
}

/** True when all of `processes` ended within `timeoutMs` milliseconds. */
export async function allGone(processes: readonly ProcessIdentity[], timeoutMs: number): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  while (processes.some(isAlive)) {
    if (Date.now() > end) return false;
    await sleep(20);
  }
  return true;
}
