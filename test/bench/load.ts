// The load generator: closed loops, in which each lane asks again when it was answered, and open ones, in which requests
// come at their time, whether or not those before them were answered.
import { setTimeout as sleep } from 'node:timers/promises';

/** One request on `lane`, which nobody else uses meanwhile; gives the status of its answer. */
export type Ask = (lane: number) => Promise<number>;

/** How many of a closed loop's requests may fail, where the machine is busy with other things. */
const maxFailures = 0.2;

/**
 * Runs `ask` on `lanes` lanes, for `ms` milliseconds or `count` requests. What is not answered with 200 does not count, and
 * its lane is renewed. Rejects when that happens often.
 */
export async function closedLoop(
  lanes: number,
  ask: Ask,
  { ms = Number.POSITIVE_INFINITY, count = Number.POSITIVE_INFINITY },
  renew: (lane: number) => Promise<void> = async () => {},
): Promise<{ readonly requests: number; readonly perSecond: number }> {
  const begin = performance.now();
  let [started, requests] = [0, 0];
  const live = async (lane: number): Promise<void> => {
    while (started < count && performance.now() - begin < ms) {
      started += 1;
      if ((await ask(lane).catch(() => 0)) === 200) requests += 1;
      else await renew(lane);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => live(lane)));
  const failures = started - requests;
  if (failures > maxFailures * started) throw new Error(`${failures} of ${started} requests failed`);
  return { requests, perSecond: (requests * 1_000) / (performance.now() - begin) };
}

export interface OpenLoad {
  readonly perSecond: number;
  readonly ms: number;
  readonly lanes: number;
}

/** Offers requests at a steady rate; tells how many were due while every lane waited for an answer, and were never sent. */
export async function openLoop(
  { perSecond, ms, lanes }: OpenLoad,
  ask: Ask,
  /** Told of each answer, with the milliseconds from when it was due; status 0: none came. */
  answered: (lane: number, status: number, tookMs: number) => void,
): Promise<number> {
  const idle = Array.from({ length: lanes }, (_, lane) => lane);
  const inFlight = new Set<Promise<void>>();
  const begin = performance.now();
  let [due, unsent] = [0, 0];
  const send = async (lane: number, dueAt: number): Promise<void> => {
    const status = await ask(lane).catch(() => 0);
    answered(lane, status, performance.now() - dueAt);
    idle.push(lane);
  };
  while (performance.now() - begin < ms) {
    const target = Math.floor(((performance.now() - begin) * perSecond) / 1_000);
    for (; due < target; due += 1) {
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
  return unsent;
}

/** The value below which the share `part` of the values lies. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);
