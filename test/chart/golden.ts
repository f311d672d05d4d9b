// What the chart renders for the two environments, kept to be compared: a change of a template shows in its review.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { parseObjects, template } from './render.ts';
import { filesOfEnvironment } from './value-sets.ts';

export function goldenPath(environment: string): string {
  return join(import.meta.dirname, 'golden', `${environment}.yaml`);
}

export function golden(environment: string): string {
  return readFileSync(goldenPath(environment), 'utf8');
}

/** Sorted by kind and name, without comments: the order of files says nothing. */
export async function renderedFor(environment: string): Promise<string> {
  const { code, stdout, stderr } = await template({ files: filesOfEnvironment(environment) });
  if (code !== 0) throw new Error(stderr);
  const objects = parseObjects(stdout)
    .map((object) => [`${object.kind}/${object.metadata.name}`, object] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return objects
    .map(([, object]) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
}
