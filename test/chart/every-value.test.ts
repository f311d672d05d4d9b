// Every value of values.yaml makes a difference.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { helm, isMap, mergeValues, template, type Values, valuesOf, valuesWith } from './render.ts';
import { documentedValues, leafPaths, valuesText } from './value-schema.ts';
import { filesOf } from './value-sets.ts';

interface Change {
  /** The set of values that the change is made in. */
  readonly on: string;
  /** Laid over the set, before and after: what makes the value matter. */
  readonly with?: Values;
  readonly to: unknown;
  /** The value is only checked: another one is refused with this sentence. */
  readonly refused?: string;
}

/** Where nearly everything is on, so that nearly every value matters. */
const everything = 'test-everything-values';
const others = parse(readFileSync(join(import.meta.dirname, 'other-values.yaml'), 'utf8')) as Values;
const paths = leafPaths(documentedValues(valuesText).values);
const names = paths.map((path) => path.join('.'));

/** How to change the value at `path`; undefined when nobody has said and it does not follow. */
function changeOf(path: readonly string[]): Change | undefined {
  const name = path.join('.');
  const entry = name in others ? others[name] : others[patternFor(name) ?? ''];
  const said = isMap(entry) && 'to' in entry ? (entry as unknown as Change) : undefined;
  const on = said?.on ?? everything;
  const before = mergeValues(
    mergeValues(valuesOf('values.yaml'), valuesOf(`ci/${on}.yaml`)),
    said?.with ?? {},
  );
  const now = path.reduce((below: unknown, key) => (isMap(below) ? below[key] : undefined), before);
  const to = said === undefined ? (entry ?? another(now)) : said.to;
  return to === undefined ? undefined : { ...said, on, to };
}

function patternFor(name: string): string | undefined {
  const matches = (key: string) =>
    new RegExp(`^${key.replaceAll('.', '\\.').replaceAll('*', '\\w+')}$`).test(name);
  return Object.keys(others).find((key) => key.includes('*') && matches(key));
}

function another(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return value === '' ? 'other' : `${value}x`;
  return undefined;
}

const before = new Map<string, Promise<string>>();

async function rendered(set: string, values: Values): Promise<string> {
  const { code, stdout, stderr } = await template({ files: filesOf(set), values });
  return code === 0 ? stdout : `refused: ${stderr}`;
}

test('there is another value for every value, and for no other', () => {
  expect(names.filter((_, index) => changeOf(paths[index] ?? []) === undefined)).toEqual([]);
  const used = new Set(names.map((name) => (name in others ? name : patternFor(name))));
  expect(Object.keys(others).filter((name) => !used.has(name))).toEqual([]);
});

test.skipIf(helm === '').concurrent.each(names)('%s makes a difference', async (name) => {
  const path = name.split('.');
  const change = changeOf(path);
  if (change === undefined) return expect.unreachable('no other value');
  const around = change.with ?? {};
  const key = `${change.on} ${JSON.stringify(around)}`;
  const unchanged = before.get(key) ?? rendered(change.on, around);
  before.set(key, unchanged);
  const changed = await rendered(change.on, mergeValues(around, valuesWith(path, change.to)) as Values);
  expect(await unchanged).not.toMatch(/^refused/);
  if (change.refused) return expect(changed).toContain(change.refused);
  expect(changed).not.toMatch(/^refused/);
  expect(changed).not.toBe(await unchanged);
});
