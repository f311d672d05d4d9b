// Calls Helm on the chart, and reads and merges its sets of values as Helm does.
import { readdirSync, readFileSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type Outcome, startProcess } from '../support/process.ts';
import { findProgram } from '../support/programs.ts';

export const chart = join(import.meta.dirname, '../../helm/course-exchange');

/** Whatever an object of Kubernetes holds; tests look into it by path. */
// biome-ignore lint/suspicious/noExplicitAny: the schemas check the form, tests read what they know is there
export type KubernetesObject = Record<string, any>;
export type Values = Readonly<Record<string, unknown>>;

let helm: Promise<string> | undefined;

/**
 * `helm template` of a chart's folder, with files of the chart's values and `values` over them, which reach Helm by its
 * standard input.
 */
export async function template(
  of: string,
  files: readonly string[],
  values: Values = {},
  ...more: readonly string[]
): Promise<Outcome> {
  const flags = [...files.map((file) => `--values=${join(chart, file)}`), '--values=-'];
  const words = ['template', 'environment', of, '--namespace=exchange', ...flags, ...more];
  helm ??= findProgram('helm');
  // A call is short: collecting its garbage as often as Go does would take a third of its time.
  const env = { ...process.env, GOGC: '400', KUBECONFIG: devNull };
  // JSON is YAML of every version: to Helm's, a bare `yes` is true.
  return startProcess(await helm, words, env, JSON.stringify(values)).ended;
}

export function valuesOf(file: string): Values {
  return parse(readFileSync(join(chart, file), 'utf8'), { merge: true }) as Values;
}

/** `below` with `above` laid over it, as Helm lays values: null takes a value away. */
export function mergeValues(below: unknown, above: unknown): unknown {
  if (!isMap(below) || !isMap(above)) return above;
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    merged[key] = key in below ? mergeValues(below[key], value) : value;
    if (merged[key] === null) delete merged[key];
  }
  return merged;
}

/** Values by their paths: `{ 'redis.mode': 'cluster' }`. */
export function valuesAt(paths: Values): Values {
  const each = Object.entries(paths).map(([path, value]) =>
    path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value),
  );
  return each.reduce(mergeValues, {}) as Values;
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The sets of values that every invariant is checked with: the two environments' files with what they leave to the operator,
 * and those under ci/. There, `…-values.yaml` stands alone; the name's first word says on which environment others lie.
 */
export const valueSets: readonly string[] = readdirSync(join(chart, 'ci'))
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.replace('.yaml', ''))
  .sort();

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

export const valuesOfSet = (set: string): Values => merged.get(set) ?? {};
