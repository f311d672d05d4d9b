// How to change one value of the chart to another that is allowed: by the table, else by what the value is now.
import { type Change, everything, ofMany, ofOneValue } from './other-values.ts';
import { isMap, laidOver, type Values, valuesOf } from './render.ts';

/** How to change the value at `path`; undefined when nobody has said and it does not follow. */
export function changeOf(path: readonly string[]): Change | undefined {
  const name = path.join('.');
  const many = ofMany.find(([pattern]) => pattern.test(name));
  const entry = ofOneValue[name] ?? many?.[1](many[0].exec(name)?.[1] ?? '');
  const on = entry?.on ?? everything;
  const before = laidOver(laidOver(valuesOf('values.yaml'), valuesOf(`ci/${on}.yaml`)), entry?.with ?? {});
  const to = entry !== undefined && 'to' in entry ? entry.to : another(at(before, path));
  return to === undefined ? undefined : { ...entry, on, to };
}

function at(values: unknown, path: readonly string[]): unknown {
  return path.reduce((below, key) => (isMap(below) ? below[key] : undefined), values);
}

/** Values with `value` at `path` and nothing else. */
export function valuesWith(path: readonly string[], value: unknown): Values {
  return path.reduceRight((inner: unknown, key) => ({ [key]: inner }), value) as Values;
}

function another(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return value === '' ? 'other' : `${value}x`;
  return undefined;
}

/** Paths in the tables, to find those that are no value any more. */
export const namedPaths: readonly string[] = Object.keys(ofOneValue);
