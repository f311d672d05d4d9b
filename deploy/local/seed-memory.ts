// What --seed files have brought into a data directory, kept beside the data so that stack.json goes on naming
// it: readable by its owner alone, gone with --reset.
import { existsSync, readFileSync } from 'node:fs';
import { demoPeople } from './demo-people.ts';
import { type RunDirectory, writeWhole } from './run-directory.ts';
import { readSeedFile, type SeedContent, SeedError } from './seed-content.ts';
import type { Person } from './seed-form.ts';

const nothingSeeded: SeedContent = { partners: [], people: [] };

export function rememberedSeed({ seedFile }: RunDirectory): SeedContent {
  return existsSync(seedFile) ? (JSON.parse(readFileSync(seedFile, 'utf8')) as SeedContent) : nothingSeeded;
}

/** The content of the --seed FILE, if there is one. Throws a SeedError that names every mistake. */
export function readNewSeed(
  run: RunDirectory,
  { seedFile, reset }: { readonly seedFile: string | undefined; readonly reset: boolean },
): SeedContent | undefined {
  if (seedFile === undefined) return undefined;
  const seed = readSeedFile(seedFile);
  const clashes = emailClashes(reset ? nothingSeeded : rememberedSeed(run), seed);
  if (clashes.length > 0) throw new SeedError(seedFile, clashes);
  return seed;
}

/** Call when `content` is in the database; the next start finds it. */
export function rememberSeed({ seedFile }: RunDirectory, content: SeedContent): void {
  writeWhole(seedFile, content);
}

/** Partners and users of `added` stand in for those of the same client id and sub. */
export function mergeSeeds(content: SeedContent, added: SeedContent): SeedContent {
  return {
    partners: merge(content.partners, added.partners, ({ clientId }) => clientId),
    people: merge(content.people, added.people, ({ sub }) => sub),
  };
}

function merge<T>(items: readonly T[], added: readonly T[], key: (item: T) => string): readonly T[] {
  return [...new Map([...items, ...added].map((item) => [key(item), item])).values()];
}

/** One sentence for each e-mail of `added` that a demo user has, or a user seeded before, under another sub. */
export function emailClashes(remembered: SeedContent, added: SeedContent): readonly string[] {
  const demo = clashes(added.people, demoPeople, 'is that of a demo user: choose another one.');
  const before = clashes(
    added.people,
    remembered.people,
    'is that of a user seeded before, with another sub: choose another one, or start with --reset.',
  );
  return [...demo, ...before];
}

function clashes(added: readonly Person[], known: readonly Person[], what: string): readonly string[] {
  const replaced = new Set(added.map(({ sub }) => sub));
  const taken = new Set(known.filter(({ sub }) => !replaced.has(sub)).map(({ email }) => folded(email)));
  return added.flatMap(({ email }, index) =>
    taken.has(folded(email)) ? [`users[${index}].email ${JSON.stringify(email)} ${what}`] : [],
  );
}

function folded(email: string): string {
  return email.toLowerCase();
}
