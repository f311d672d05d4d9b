// Every value of values.yaml makes a difference.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { renderAll } from './many.ts';
import { isMap, mergeValues, type Values, valuesWith } from './render.ts';
import { type ValueNode, valueNodes } from './shipped-schema.ts';
import { valuesOfSet } from './value-sets.ts';

/** What other-values.yaml says of a value. */
type Said = {
  readonly on?: string;
  readonly with?: Values;
  readonly to?: unknown;
  readonly refused?: string;
};

const { types, names } = parse(readFileSync(join(import.meta.dirname, 'other-values.yaml'), 'utf8')) as {
  readonly types: Values;
  readonly names: Values;
};
const keys = Object.keys(names).map((key) => [new RegExp(`^${key.replaceAll('*', '\\w+')}$`), key] as const);
const used = new Set<string>();
/** They are large, and no other value is in them. */
const quiet = { metrics: { prometheusRule: { enabled: false }, dashboards: { enabled: false } } };

function changeOf({ path, type, schema }: ValueNode, at: number) {
  const name = path.join('.');
  const key = keys.find(([matches]) => matches.test(name))?.[1] ?? '';
  for (const one of [key, type]) used.add(one);
  const [ofType, ofName] = [types[type], names[key]].map((one) =>
    one === undefined || isMap(one) ? one : { to: one },
  );
  const said: Said = { ...ofType, ...ofName };
  const { on = 'test-everything-values', with: more, to, refused } = said;
  const around = mergeValues(path[0] === 'metrics' ? {} : quiet, more ?? {});
  const now = path.reduce(
    (below: unknown, one) => (isMap(below) ? below[one] : undefined),
    mergeValues(valuesOfSet(on), around),
  );
  // What nothing but the changed value holds.
  const mark = `${30_000 + at}`;
  const other = JSON.stringify(to ?? another(schema, now)).replaceAll(/"#"|[$]/g, mark);
  const values = valuesWith(path, JSON.parse(other));
  return { name, on, around, values, refused, mark: other.includes(mark) ? mark : undefined };
}

function another({ type, enum: words, maximum = 65_535 }: Values, now: unknown): unknown {
  if (Array.isArray(words)) return words.find((word) => word !== now && word !== '');
  if (type === 'boolean') return !now;
  return type === 'integer' ? (Number(maximum) < 40_000 ? Number(now) + 1 : '#') : `${now || 'other'}x$`;
}

test('every value makes a difference, or is refused in a sentence', async () => {
  // Neither maps, nor what a parent chart reads, nor what can have no other value.
  const leaves = valueNodes.filter(
    ({ path, type, schema }) => !isMap(schema.properties) && path.join() !== 'enabled' && type !== 'never',
  );
  const changes = leaves.map(changeOf);
  expect([...Object.keys(types), ...Object.keys(names)].filter((key) => !used.has(key))).toEqual([]);
  // Marked changes of one depth share a rendering: what a component says itself hides what all are told.
  const groups = Map.groupBy(changes, ({ name, on, around, mark }) =>
    JSON.stringify([on, around, mark ? name.split('.').length : name]),
  );
  const cases = [...groups.values()].flatMap((group) => {
    const { on = '', around } = group[0] ?? {};
    const changed = group.map(({ values }) => values).reduce<unknown>(mergeValues, around);
    return [around, changed].map((values) => ({ on, values: values as Values }));
  });
  const rendered = await renderAll(cases);
  const ignored = [...groups.values()].flatMap((group, at) => {
    const [before, after] = rendered.slice(2 * at, 2 * at + 2);
    const [was, is] = [before, after].map((one) => JSON.stringify(one?.objects));
    return group.filter(({ mark, refused }) => {
      if (refused) return !after?.refused.includes(refused);
      return mark ? was?.includes(mark) || !is?.includes(mark) : was === is || after?.refused !== '';
    });
  });
  expect(ignored.map(({ name }) => name)).toEqual([]);
});
