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
  try {
    await sleep(3_000);
    await work(load);
    await sleep(3_000);
  } finally {
    loadFigure(what, await load.stop());
  }
  return load.stop();
}

export function expectNoFailure({ failures, doubleSpends }: LoadReport): void {
  expect(failures).toEqual([]);
  expect(doubleSpends).toBe(0);
}
