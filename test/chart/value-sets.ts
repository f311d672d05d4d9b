// The sets of values that every invariant is judged by: the two environments' files with what they leave to the operator,
// and those under ci/. There, `…-values.yaml` stands alone; the name's first word says on which environment others lie.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { chart, type KubernetesObject, objectsOf } from './render.ts';

export const environments = ['production', 'test'];

export const valueSets: readonly string[] = readdirSync(join(chart, 'ci'))
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.replace('.yaml', ''))
  .sort();

/** The set's files, in the order of their weight. */
export function filesOf(set: string): readonly string[] {
  const own = `ci/${set}.yaml`;
  if (set.endsWith('-values')) return [own];
  const environment = set.split('-')[0] ?? '';
  const hosts = `ci/${environment}-hosts.yaml`;
  return [`values-${environment}.yaml`, ...new Set([hosts, own])];
}

/** Everything that an environment's own file leaves open is filled in. */
export function filesOfEnvironment(environment: string): readonly string[] {
  return filesOf(`${environment}-hosts`);
}

const rendered = new Map<string, Promise<readonly KubernetesObject[]>>();

/** Rendered once, for all tests of a process. */
export function objectsOfSet(set: string): Promise<readonly KubernetesObject[]> {
  const objects = rendered.get(set) ?? objectsOf({ files: filesOf(set) });
  rendered.set(set, objects);
  return objects;
}
