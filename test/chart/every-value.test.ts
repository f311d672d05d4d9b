// Each value of values.yaml is set in ci/, and makes a difference there.
import { expect, test } from 'vitest';
import { isMap, type Values, valuesAt, valuesOfSet } from './render.ts';
import { renderAll, renderSets } from './rendered.ts';
import { documentedValues } from './value-schema.ts';

const valueAt = (values: Values, path: readonly string[]) =>
  path.reduce<unknown>((below, key) => (isMap(below) ? below[key] : undefined), values);
const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** What makes the default of what is there now: a map laid over another one leaves what the other alone has. */
function reset(now: unknown, fallback: unknown): unknown {
  if (!isMap(now) || !isMap(fallback)) return fallback;
  return { ...Object.fromEntries(Object.keys(now).map((key) => [key, null])), ...fallback };
}

test('each value, set back to its default, changes the objects or is refused', async () => {
  const sets = await renderSets();
  const changes = documentedValues.map(({ path, defaultValue }) => {
    const before = sets.findLast(({ set }) => !isEqual(valueAt(valuesOfSet(set), path), defaultValue));
    const now = valueAt(valuesOfSet(before?.set ?? ''), path);
    return { name: path.join('.'), before, fallback: reset(now, defaultValue) };
  });
  expect(changes.filter(({ before }) => before === undefined).map(({ name }) => name)).toEqual([]);
  const cases = changes.map(({ name, before, fallback }) => ({
    on: before?.set ?? '',
    values: valuesAt({ [name]: fallback }),
  }));
  const rendered = await renderAll(cases);
  const ignored = changes.filter(({ before }, at) => {
    const { objects, refused } = rendered[at] ?? {};
    return isEqual([objects, refused], [before?.objects, before?.refused]);
  });
  expect(ignored.map(({ name }) => name)).toEqual([]);
});
