// The load generator: closed loops, in which each lane asks again when it was answered, and open ones, in which requests
// come at their time, whether or not those before them were answered.
import { setTimeout as sleep } from 'node:timers/promises';

/** One request on `lane`, which nobody else uses meanwhile; gives the status of its answer. */
export type Ask = (lane: number) => Promise<number>;

/** How many of a closed loop's requests may fail, where the machine is busy with other things. */
const maxFailures = 0.2;

/**
 * Runs `ask` on `lanes` lanes, for `ms` milliseconds or `count` requests. What is not answered with 200 does not count, and
 * its lane is made `usable` again. Rejects when that happens often.
 */
export async function closedLoop(
  lanes: number,
  ask: Ask,
  { ms = Number.POSITIVE_INFINITY, count = Number.POSITIVE_INFINITY },
  usable: (lane: number) => Promise<void> = async () => {},
): Promise<{ readonly requests: number; readonly perSecond: number }> {
  const begin = performance.now();
  let [started, requests, failures] = [0, 0, 0];
  await Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      while (started < count && performance.now() - begin < ms) {
        started += 1;
        if ((await ask(lane).catch(() => 0)) === 200) {
          requests += 1;
          continue;
        }
        failures += 1;
        await usable(lane);
      }
    }),
  );
  if (failures > maxFailures * started) throw new Error(`${failures} of ${started} requests failed`);
  return { requests, perSecond: (requests * 1_000) / (performance.now() - begin) };
}

export interface OpenLoad {
  readonly perSecond: number;
  readonly ms: number;
  readonly lanes: number;
}

export interface OpenResult {
  /** Milliseconds from the moment at which a request was due to its answer, sorted; of those answered with 200. */
  readonly latencies: readonly number[];
  /** How many answers had this status; 0: none came. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Due while every lane waited for an answer, and never sent. */
  readonly unsent: number;
}

/** Offers requests at a steady rate. `answered` is told of every answer. */
export async function openLoop(
  { perSecond, ms, lanes }: OpenLoad,
  ask: Ask,
  answered: (lane: number, status: number) => void = () => {},
): Promise<OpenResult> {
  const idle = Array.from({ length: lanes }, (_, lane) => lane);
  const statuses = new Map<number, number>();
  const latencies: number[] = [];
  const inFlight = new Set<Promise<void>>();
  const begin = performance.now();
  let [due, unsent] = [0, 0];
  const send = async (lane: number, dueAt: number): Promise<void> => {
    const status = await ask(lane).catch(() => 0);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status === 200) latencies.push(performance.now() - dueAt);
    answered(lane, status);
    idle.push(lane);
  };
  while (performance.now() - begin < ms) {
    const target = Math.floor(((performance.now() - begin) * perSecond) / 1_000);
    for (; due < target; due++) {
      const lane = idle.shift();
      if (lane === undefined) {
        unsent += 1;
        continue;
      }
      const sent = send(lane, begin + (due * 1_000) / perSecond).finally(() => inFlight.delete(sent));
      inFlight.add(sent);
    }
    await sleep(1);
  }
  await Promise.all(inFlight);
  return { latencies: latencies.toSorted((one, other) => one - other), statuses, unsent };
}

/** The value below which the share `part` of the sorted `values` lies. */
export function percentile(values: readonly number[], part: number): number {
  return values[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const [below = Number.NaN, above = Number.NaN] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 1 ? above : (below + above) / 2;
}
