// What the suite measured, a line each, in a file that outlives the test process: run.ts prints the table.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { LoadReport } from '../support/load/record.ts';
import { figuresFile } from './settings.ts';

interface Figure {
  readonly what: string;
  readonly value: string;
}

export function figure(what: string, value: string): void {
  appendFileSync(figuresFile, `${JSON.stringify({ what, value } satisfies Figure)}\n`);
  console.log(`figure: ${what}: ${value}`);
}

export function loadFigure(what: string, report: LoadReport): void {
  const { operations, failures, seconds, median, p99, longest } = report;
  const all = Object.values(operations).reduce((sum, count) => sum + count, 0);
  const parts = Object.entries(operations).map(([name, count]) => `${count} ${name}`);
  figure(
    what,
    `${all} operations in ${seconds.toFixed(0)} s (${parts.join(', ')}), ${failures.length} failed, ` +
      `median ${median} ms, p99 ${p99} ms, longest ${longest} ms`,
  );
}

/** Runs `work` and writes down how long it took. */
export async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await work();
  figure(what, `${((performance.now() - begun) / 1_000).toFixed(1)} s`);
  return result;
}

/** The figures of `file` as a table. */
export function tableOf(file: string): string {
  if (!existsSync(file)) return 'No figure was taken.';
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const figures = lines.map((line) => JSON.parse(line) as Figure);
  const width = Math.max(...figures.map(({ what }) => what.length));
  return figures.map(({ what, value }) => `${what.padEnd(width)}  ${value}`).join('\n');
}
