// Work done to a release while partners go on: the load runs before, during and after it.
import { setTimeout as sleep } from 'node:timers/promises';
import { demoUsers } from '@course-exchange/local-stack/demo-accounts';
import { expect } from 'vitest';
import type { Family } from '../support/load/families.ts';
import { type Load, type LoadOptions, startLoad } from '../support/load/load.ts';
import type { Failure, LoadReport } from '../support/load/record.ts';
import type { Environment } from './environment.ts';
import { loadFigure } from './figures.ts';
import { warningsOf } from './pods.ts';

/** Who log in under load; the families belong to the first. */
export const loadUsers = [
  demoUsers.typical,
  demoUsers.shares,
  demoUsers.japanese,
  demoUsers.arabic,
  demoUsers.greek,
  demoUsers.cyrillic,
] as const;

/** Of each issuer, from one load to the next: opening them takes longer than some of what is done under load. */
const families = new Map<string, readonly Family[]>();

export interface LoadOutcome extends LoadReport {
  /** Of the failures, and what the pods warned of meanwhile; empty without failures. */
  readonly reasons: readonly string[];
}

/** Fifty operations a second where `perSecond` is silent, from three seconds before `work` until three seconds after it. */
export async function underLoad(
  { kube, issuer, partner }: Pick<Environment, 'kube' | 'issuer' | 'partner'>,
  what: string,
  work: (load: Load) => Promise<void>,
  perSecond: LoadOptions['perSecond'] = {},
): Promise<LoadOutcome> {
  const load = await startLoad({ issuer, partner, users: loadUsers, kept: families.get(issuer), perSecond });
  families.set(issuer, load.families);
  let report: LoadReport;
  const reasons: string[] = [];
  try {
    await sleep(3_000);
    await work(load);
    await sleep(3_000);
  } finally {
    report = await load.stop();
    loadFigure(what, report);
    reasons.push(...reasonsOf(report));
    if (reasons.length > 0) reasons.push(...(await warningsOf(kube, report.seconds)));
    for (const line of reasons) console.log(line);
  }
  return { ...report, reasons };
}

/** Failures by operation and reason: how many, and from when to when. */
function reasonsOf({ failures }: LoadReport): readonly string[] {
  const grouped = Map.groupBy(failures, ({ operation, what }) => `${operation}: ${what}`);
  return [...grouped].map(
    ([reason, [first, ...others]]) =>
      `${others.length + 1} failed, ${first?.at} to ${others.at(-1)?.at ?? first?.at}: ${reason}`,
  );
}

/** Of this many operations, and of fewer, one may be refused with 503: a node of two cores has moments in which it cannot keep up. */
const perRefusal = 500;

/** Nothing but such refusals among `all`. */
function isBusy(failures: readonly Failure[], all: number): boolean {
  return (
    failures.every(({ what }) => /\b503\b/.test(what)) && failures.length <= Math.max(1, all / perRefusal)
  );
}

/** Nothing failed but such a refusal, which costs nobody a token. */
export function expectNoFailure({ reasons, failures, operations, lost, doubleSpends }: LoadOutcome): void {
  const all = Object.values(operations).reduce((sum, count) => sum + count, 0);
  if (!isBusy(failures, all)) expect(reasons).toEqual([]);
  expect(lost).toEqual([]);
  expect(doubleSpends).toBe(0);
}

/** The same of the reads alone. */
export function expectNoReadFailed({ failures, operations }: LoadOutcome): void {
  expectNoneFailed(
    failures.filter(({ operation }) => operation === 'events'),
    operations.events,
  );
}

/** The same of failures among `all` operations. */
export function expectNoneFailed(failures: readonly Failure[], all: number): void {
  if (!isBusy(failures, all)) expect(failures).toEqual([]);
}
