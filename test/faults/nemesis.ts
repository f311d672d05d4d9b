// The nemesis: plays rows of the table on a target under the workload, one after the other, each when the one before is over
// and all is well again.
import { setTimeout as sleep } from 'node:timers/promises';
import { ownStopwatch, type Probe } from '../support/own-time.ts';
import { check, type Operation, type Outage, type Violation } from './checker.ts';
import { kinds, type Row, standstillMs } from './table.ts';
import { startWorkload, type Target } from './workload.ts';

/** Longer than any row allows, in milliseconds: then a run is given up. */
const patienceMs = 120_000;
const had = ownStopwatch();

/** The same numbers for the same seed (mulberry32). */
export function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export type Round = Awaited<ReturnType<typeof startRound>>;

/** One history, from the first family to the last trial of each code and token. */
export async function startRound(target: Target, probe: Pick<Probe, 'stalls'>, seed: number) {
  const [operations, outages]: [Operation[], Outage[]] = [[], []];
  const workload = await startWorkload(target, operations, randomOf(seed));
  const known = new Set<string>();
  /** What is wrong since then and was not reported before. */
  const judge = (since: number): readonly string[] => {
    const lines = check({ operations, outages, stalls: probe.stalls() }, since).map(told);
    const news = lines.filter((line) => !known.has(line));
    for (const line of news) known.add(line);
    return news;
  };

  /** Resolves when the last operation of each kind since then is as wanted. */
  async function untilEach(what: string, since: number, holds: (operation: Operation) => boolean) {
    const begun = had();
    const isLacking = (kind: string) => {
      const asked = operations.filter((one) => one.kind === kind && one.called >= since);
      return !asked
        .filter(({ answer }) => answer !== 'refused')
        .slice(-1)
        .some(holds);
    };
    for (let lacks = kinds.filter(isLacking); lacks.length > 0; lacks = kinds.filter(isLacking)) {
      if (had() - begun > patienceMs) throw new Error(`${what}: not ${lacks.join(', ')}`);
      await sleep(50);
    }
  }
  const untilWell = async () => {
    await untilEach('well', performance.now(), ({ answer }) => answer === 'good');
    while (!workload.isAtPace()) await sleep(50);
  };
  await untilWell();

  return {
    operations,
    /** Resolves when all is well again, with what is wrong, a line each. */
    play: async (row: Row): Promise<readonly string[]> => {
      const begun = performance.now();
      const undo = await target.faults[row.fault]?.(row.part);
      if (undo === undefined) throw new Error(`Nothing here can be ${row.fault}.`);
      const struck = performance.now();
      let healing = struck;
      try {
        if (row.lastsMs !== undefined) await sleep(row.lastsMs);
        else await untilEach('met by the fault', struck + (row.settlesMs ?? 0), () => true);
        healing = performance.now();
      } finally {
        await undo();
      }
      const outage = { row, begun, struck, healing, over: performance.now() };
      outages.push(outage);
      await untilWell();
      console.log(`figure: ${figureOf(outage, operations)}`);
      return judge(begun);
    },
    finish: async (): Promise<readonly string[]> => {
      const begun = performance.now();
      await workload.finish();
      const stills = probe.stalls().filter(({ from, to }) => to - from >= standstillMs);
      console.log(
        `figure: ${operations.length} operations; the machine stalled ${stills.length} times so far`,
      );
      return judge(begun);
    },
  };
}

/** A line of what was asked since the fault began, and what came of it. */
function figureOf({ row, begun, healing, over }: Outage, operations: readonly Operation[]): string {
  const asked = operations.filter(({ kind, answered }) => kind !== 'withdrawal' && answered >= begun);
  const failed = asked.filter(({ answer }) => answer !== 'good' && answer !== 'refused');
  const last = Math.max(over, ...failed.map(({ answered }) => answered));
  const spans = [healing - begun, over - healing, last - over];
  const [lasted, ended, later] = spans.map((ms) => `${(ms / 1_000).toFixed(1)} s`);
  const counts = `${asked.length} operations, ${failed.length} failed`;
  const end = `${row.ends} ${ended} later, nothing fails ${later} after that`;
  return `${row.part} ${row.fault}: ${counts}; it lasted ${lasted}, ${end}`;
}

/** One line, without a token. */
function told(violation: Violation): string {
  if (violation.rule === 'end') return `end: ${figureOf(violation.outage, [])}`;
  const { rule, operation } = violation;
  const { kind, called, answered, answer, presents = '' } = operation;
  return `${rule}: ${kind} ${presents} ${answer} (${(called / 1_000).toFixed(3)}–${(answered / 1_000).toFixed(3)} s)`;
}
