// The tests of a target: each row of its table once, one after the other under one workload, and every code and token once more.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Probe, startProbe } from '../support/own-time.ts';
import { type Round, startRound } from './nemesis.ts';
import type { Row } from './table.ts';
import type { Target } from './workload.ts';

/** `start`: resolves when the target serves; it is stopped after the last test. */
export function playEachRow(rows: readonly Row[], start: (probe: Probe) => Promise<Target>): void {
  let probe: Probe;
  let target: Target;
  let round: Round;
  beforeAll(async () => {
    probe = await startProbe();
    target = await start(probe);
    round = await startRound(target, probe, 1);
  });
  afterAll(async () => {
    await target?.stop?.();
    probe?.stop();
  });

  test.each(rows)(
    '$part $fault: only requests that need it fail, in time, and the system recovers in time [R14.1, R14.2, R14.3, R14.4]',
    async (row) => {
      expect(await round.play(row)).toEqual([]);
    },
  );

  test('each code and token has one success, its successor is accepted, what is spent or revoked is dead [R9.2, R10.2, R11.2, R11.3, R13.3, R13.4]', async () => {
    expect(await round.finish()).toEqual([]);
  });
}
