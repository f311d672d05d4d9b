// What the suite measures, a line each: run.ts prints them together at the end.
import type { LoadReport } from '../support/load/record.ts';

export function figure(what: string, value: string): void {
  console.log(`figure: ${what}: ${value}`);
}

export function loadFigure(what: string, report: LoadReport): void {
  const { operations, failures, lost, doubleSpends, seconds, median, p99, longest } = report;
  const all = Object.values(operations).reduce((sum, count) => sum + count, 0);
  const parts = Object.entries(operations).map(([name, count]) => `${count} ${name}`);
  figure(
    what,
    `${all} operations in ${seconds.toFixed(0)} s (${parts.join(', ')}), ${failures.length} failed, ` +
      `${lost.length} tokens lost, ${doubleSpends} accepted twice, median ${median} ms, p99 ${p99} ms, longest ${longest} ms`,
  );
}

/** Runs `work` and writes down how long it took. */
export async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await work();
  figure(what, `${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  return result;
}
