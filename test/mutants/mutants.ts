// The planted defects: a list for each property (`*.yaml` beside this file), read and checked against the tree.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const mutantShape = z.strictObject({
  /** One list alone has it. */
  id: z.string().regex(/^[a-z0-9-]+$/),
  /** The sentence that no longer holds. */
  property: z.string(),
  /** From the root directory. */
  file: z.string(),
  /** The place, by its text: it occurs once. */
  find: z.string(),
  change: z.string(),
  /** The cheapest suite that should notice: its vitest project, and which of its files (patterns; all where none is named). */
  suite: z.string(),
  tests: z.array(z.string()).default([]),
});

export type Mutant = z.infer<typeof mutantShape> & { readonly list: string };

/** All mutants. Throws where a list has another shape, or an id comes twice. */
export function readMutants(): readonly Mutant[] {
  const lists = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.yaml'));
  const mutants = lists.sort().flatMap((name) => {
    const entries = z.array(mutantShape).parse(parse(readFileSync(join(import.meta.dirname, name), 'utf8')));
    return entries.map((entry): Mutant => ({ ...entry, list: name.replace('.yaml', '') }));
  });
  const twice = mutants.find(({ id }, index) => mutants.findIndex((other) => other.id === id) !== index);
  if (twice) throw new Error(`The mutant ${twice.id} is there twice.`);
  return mutants;
}

/** `source` with the mutant in it. Throws where its place is not there, or not there once. */
export function mutate(source: string, { id, file, find, change }: Mutant): string {
  const places = source.split(find).length - 1;
  if (places !== 1) throw new Error(`${id}: its place occurs ${places} times in ${file}.`);
  return source.replace(find, () => change);
}
