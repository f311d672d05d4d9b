// Every value of values.yaml makes a difference, and there is none that values.yaml keeps silent about.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { changeOf, namedPaths, valuesWith } from './changes.ts';
import { documentedValues, valuesText } from './documented-values.ts';
import { chart, helm, isMap, laidOver, template, type Values } from './render.ts';
import { filesOf } from './value-sets.ts';

const { values } = documentedValues(valuesText);
const paths = values.map(({ path }) => path);
const names = paths.map((path) => path.join('.'));

/** The chart with a dashboard, of which it brings none yet: without one the values for dashboards could not matter. */
const withDashboard = mkdtempSync(join(tmpdir(), 'chart-'));
cpSync(chart, withDashboard, { recursive: true });
mkdirSync(join(withDashboard, 'dashboards'), { recursive: true });
writeFileSync(join(withDashboard, 'dashboards/one.json'), '{}');
afterAll(() => rmSync(withDashboard, { recursive: true }));

const before = new Map<string, Promise<string>>();

async function rendered(set: string, laid: Values): Promise<string> {
  const { code, stdout, stderr } = await template({
    files: filesOf(set),
    values: laid,
    of: withDashboard,
  });
  return code === 0 ? stdout : `refused: ${stderr}`;
}

test('the table of other values covers every value, and names no other', () => {
  expect(names.filter((_, index) => changeOf(paths[index] ?? []) === undefined)).toEqual([]);
  expect(namedPaths.filter((name) => !names.includes(name))).toEqual([]);
});

test.skipIf(helm === '').concurrent.each(names)('%s makes a difference', async (name) => {
  const path = name.split('.');
  const change = changeOf(path);
  if (change === undefined) return expect.unreachable('no other value');
  const around = change.with ?? {};
  const key = `${change.on} ${JSON.stringify(around)}`;
  const unchanged = before.get(key) ?? rendered(change.on, around);
  before.set(key, unchanged);
  const changed = await rendered(change.on, laidOver(around, valuesWith(path, change.to)) as Values);
  expect(await unchanged).not.toMatch(/^refused/);
  if (change.refused) return expect(changed).toMatch(change.refused);
  expect(changed).not.toMatch(/^refused/);
  expect(changed).not.toBe(await unchanged);
});

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Of the pods of a component; what stands under `defaults` may stand there, and the other way round. */
const components = ['gateway', 'identity', 'designCatalog', 'migrations', 'demoPartner', 'tests', 'defaults'];

test("what the schema allows, values.yaml documents; `enabled` is a parent chart's", () => {
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema & {
    definitions: Record<string, Schema>;
  };
  const allowed = (part: Schema, path: readonly string[]): readonly string[][] => {
    const resolved = part.$ref ? schema.definitions[part.$ref.replace('#/definitions/', '')] : part;
    if (!isMap(resolved?.properties)) return [[...path]];
    return Object.entries(resolved.properties).flatMap(([key, inner]) => allowed(inner, [...path, key]));
  };
  const said = (path: readonly string[]) => names.some((name) => `${path.join('.')}.`.startsWith(`${name}.`));
  const silent = allowed(schema, []).filter(([first = '', ...rest]) => {
    if (first === 'enabled') return false;
    const places = components.includes(first) ? components : [first];
    return !places.some((place) => said([place, ...rest]));
  });
  expect(silent.map((path) => path.join('.'))).toEqual([]);
});
