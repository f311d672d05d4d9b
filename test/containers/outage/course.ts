// The course of one outage under load: while it lasts, until all is well again, and what was answered meanwhile.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { OutageLoad } from './load.ts';
import { failuresOf, type Operation, operations, type Sample } from './samples.ts';

export interface Outage {
  /** Every call that began while the thing was away and was answered before it came back. */
  readonly during: readonly Sample[];
  /** Every call that ended since it went away, but for refusals of calls that this machine kept waiting. */
  readonly all: readonly Sample[];
  /** Of `all`, those that took longer than R14 allows, and longer than this machine kept them waiting. */
  readonly late: readonly Sample[];
  /** Milliseconds from its return to the end of the last call that failed, without those that this machine kept all waiting. */
  readonly recoveryMs: number;
}

/**
 * Takes something away, waits until every operation was answered `answers` times without it, brings it back, and waits
 * until every operation has gone well three times in a row and every family has a token that is surely good.
 */
export async function outage(
  load: OutageLoad,
  {
    cut,
    restore,
    answers = 2,
  }: Readonly<{ cut: () => Promise<unknown>; restore: () => Promise<unknown>; answers?: number }>,
): Promise<Outage> {
  await cut();
  const from = performance.now();
  const since = () => load.samples.filter(({ begun }) => begun >= from);
  let restoring = from;
  try {
    await until(60_000, () => operations.every((operation) => of(since(), operation).length >= answers));
    restoring = performance.now();
  } finally {
    await restore();
  }
  const back = performance.now();
  const wellAgain = (operation: Operation) => {
    const last = of(load.samples, operation)
      .filter(({ begun }) => begun >= back)
      .slice(-3);
    return last.length === 3 && last.every(({ status }) => status === 200);
  };
  // A family that waits for its answer may still learn that its token was spent.
  await until(90_000, () => operations.every(wellAgain) && !load.isAnyDoubtful());
  const all = load.samples.filter((sample) => sample.ended >= from && !isOfTheMachine(load, sample));
  const lastFailure = all.findLast(({ status }) => status !== 200)?.ended ?? back;
  const during = all.filter(({ begun, ended }) => begun >= from && ended <= restoring);
  const late = all.filter(
    ({ operation, begun, ended }) =>
      ended - begun > limitOf(operation) + scheduling + load.stalls.between(begun, ended),
  );
  const recoveryMs = lastFailure - back - load.stalls.between(back, lastFailure);
  return { during, all, late, recoveryMs: Math.max(0, Math.round(recoveryMs)) };
}

/** Whether the call was refused while this process, as all others, stood still: a service whose time is over then gives up. */
export function isOfTheMachine({ stalls }: OutageLoad, { status, begun, ended }: Sample): boolean {
  return status === 503 && stalls.longest(begun, ended) > 400;
}

/**
 * R14: what fails says 503 and when to ask again, in time, and nothing but `needs` ever fails; all of `needs` must have
 * failed where `certainly` is set. A token whose answer was lost may be refused: the chains know which those are.
 */
export function expectGraceful(
  { during, all, late }: Outage,
  needs: readonly Operation[],
  certainly: boolean,
): void {
  const failed = all.filter((sample) => sample.status !== 200 && !isRefusal(sample));
  const wrong = failed.filter(
    ({ operation, status, error }) =>
      !needs.includes(operation) || status !== 503 || !['temporarily_unavailable', 'page'].includes(error),
  );
  expect(failuresOf(wrong)).toBe('');
  expect(failed.filter(({ retryAfter }) => !(retryAfter >= 1))).toEqual([]);
  expect(late).toEqual([]);
  const well = during.filter(({ operation, status }) => status === 200 && needs.includes(operation));
  if (certainly) expect(well).toEqual([]);
}

function limitOf(operation: Operation): number {
  return operation === 'login' ? 10_000 : 2_000;
}

/** What two busy cores add to an answer on its way through this process and two others, milliseconds. */
const scheduling = 500;

function isRefusal({ operation, status, error }: Sample): boolean {
  return operation === 'refresh' && status === 400 && error === 'invalid_grant';
}

function of(samples: readonly Sample[], operation: Operation): readonly Sample[] {
  return samples.filter((sample) => sample.operation === operation);
}

async function until(milliseconds: number, holds: () => boolean): Promise<void> {
  for (const end = performance.now() + milliseconds; !holds(); await sleep(50))
    if (performance.now() > end) throw new Error('It did not come to pass in time.');
}
