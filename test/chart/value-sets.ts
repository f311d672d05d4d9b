// The sets of values that every invariant is judged by: the two environments' files with what they leave to the operator,
// and those under ci/. There, `…-values.yaml` stands alone; the name's first word says on which environment others lie.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { chart, mergeValues, type Values, valuesOf } from './render.ts';

export const valueSets: readonly string[] = readdirSync(join(chart, 'ci'))
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.replace('.yaml', ''))
  .sort();

/** The set's files, in the order of their weight. */
export function filesOf(set: string): readonly string[] {
  const own = `ci/${set}.yaml`;
  return set.endsWith('-values') ? [own] : [`values-${set.split('-')[0]}.yaml`, own];
}

const merged = new Map(
  valueSets.map((set) => [
    set,
    ['values.yaml', ...filesOf(set)].map(valuesOf).reduce<unknown>(mergeValues, {}) as Values,
  ]),
);

/** With what the chart brings. */
export const valuesOfSet = (set: string): Values => merged.get(set) ?? {};
