// Work done to a release while partners go on: the load runs before, during and after it.
import { setTimeout as sleep } from 'node:timers/promises';
import { demoPartners } from '@course-exchange/local-stack/demo-partners';
import { people } from '@course-exchange/local-stack/demo-people';
import { expect } from 'vitest';
import { type Load, startLoad } from '../support/load/load.ts';
import type { LoadReport } from '../support/load/record.ts';
import type { Partner } from '../support/stack-file.ts';
import type { Environment } from './environment.ts';
import { loadFigure } from './figures.ts';

export const loadPartner = demoPartners('https://unused.test')[1] as Partner;

/** Fifty operations a second, from three seconds before `work` until three seconds after it. */
export async function underLoad(
  { issuer }: Pick<Environment, 'issuer'>,
  what: string,
  work: (load: Load) => Promise<void>,
): Promise<LoadReport> {
  const { typical, shares, japanese, arabic, greek, cyrillic } = people;
  const load = await startLoad({
    issuer,
    partner: loadPartner,
    users: [typical, shares, japanese, arabic, greek, cyrillic],
  });
  let report: LoadReport;
  try {
    await sleep(3_000);
    await work(load);
    await sleep(3_000);
  } finally {
    report = await load.stop();
    loadFigure(what, report);
    for (const line of reasonsOf(report)) console.log(line);
  }
  return report;
}

/** Failures by operation and reason: how many, and from when to when. */
function reasonsOf({ failures }: LoadReport): readonly string[] {
  const grouped = Map.groupBy(failures, ({ operation, what }) => `${operation}: ${what}`);
  return [...grouped].map(
    ([reason, [first, ...others]]) =>
      `${others.length + 1} failed, ${first?.at} to ${others.at(-1)?.at ?? first?.at}: ${reason}`,
  );
}

export function expectNoFailure({ failures, doubleSpends }: LoadReport): void {
  expect(failures).toEqual([]);
  expect(doubleSpends).toBe(0);
}
