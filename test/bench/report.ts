// The figures in Markdown.
import { table } from '../generate/page.ts';
import { median } from './load.ts';
import { type Row, ratiosOf } from './measure.ts';
import { operations, type Subject } from './subject.ts';

const microseconds = (value: number): string => Math.round(value).toLocaleString('en');
export const milliseconds = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
export const rate = (perSecond: number): string => `${Math.round(perSecond).toLocaleString('en')}/s`;
export const percent = (part: number): string => `${Math.round(100 * part)} %`;

/** The median, and in brackets the least and the most. */
export function withNoise(values: readonly number[], format: (value: number) => string): string {
  return `${format(median(values))} (${format(Math.min(...values))}–${format(Math.max(...values))})`;
}

/** What each operation costs `ours`, and how much more than each of the others. */
export function costTable([ours, ...others]: readonly Subject[], rows: readonly Row[]): string {
  const heads = others.flatMap(({ name }) => [`${name}, µs`, `÷ ${name}`]);
  const lines = rows.map(({ operation, lanes, costs }) => {
    const own = (ours && costs.get(ours)) ?? [];
    const beside = others.flatMap((other) => {
      const cost = costs.get(other);
      if (cost === undefined) return ['', ''];
      const ratio = withNoise(ratiosOf(own, cost), (value) => value.toFixed(2));
      return [microseconds(median(cost)), ratio];
    });
    return [operations[operation], `${lanes}`, withNoise(own, microseconds), ...beside];
  });
  return table(['operation', 'at a time', `${ours?.name}, µs`, ...heads], lines);
}
