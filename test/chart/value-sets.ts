// The sets of values that every invariant is judged by: those under ci/ and those of the two environments.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { chart, type KubernetesObject, objectsOf } from './render.ts';

export const environmentFiles = ['values-production.yaml', 'values-test.yaml'];

export const valueSets: readonly string[] = [
  ...environmentFiles,
  ...readdirSync(join(chart, 'ci'))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `ci/${name}`)
    .sort(),
];

const rendered = new Map<string, Promise<readonly KubernetesObject[]>>();

/** Rendered once, for all tests of a process. */
export function objectsOfSet(set: string): Promise<readonly KubernetesObject[]> {
  const objects = rendered.get(set) ?? objectsOf({ files: [set] });
  rendered.set(set, objects);
  return objects;
}
