// What a stack shall hold: the demo data, and what --seed files have brought. That is remembered beside the data, for its
// owner alone, until --reset.
import { foldEmail } from '@course-exchange/rules/email';
import type { StartOptions } from './arguments.ts';
import { allDemoUsers, demoPartners } from './demo-accounts.ts';
import type { StackPlan } from './plan.ts';
import { databaseUrl, withClient } from './postgres.ts';
import { type RunDirectory, readJson, writeWhole } from './run-directory.ts';
import { seedContent, seedDemoData } from './seed.ts';
import { readSeedFile, type SeedContent, SeedError, type SeedUser } from './seed-file.ts';

export function rememberedSeed({ seedFile }: RunDirectory): SeedContent {
  // A directory of an earlier version may have other names in it.
  return { partners: [], users: [], ...readJson<Partial<SeedContent>>(seedFile, {}) };
}

/** The content of the --seed FILE, if there is one. Throws a SeedError that names every mistake. */
export function readNewSeed(
  run: RunDirectory,
  { seed: file, reset }: Pick<StartOptions, 'seed' | 'reset'>,
): SeedContent | undefined {
  if (file === undefined) return undefined;
  const content = readSeedFile(file);
  const clashes = (known: readonly SeedUser[], problem: string) =>
    emailClashes(content.users, known).map((place) => `${place} ${problem}`);
  const mistakes = [
    ...clashes(allDemoUsers, 'is that of a demo user: choose another one.'),
    ...clashes(
      reset ? [] : rememberedSeed(run).users,
      'is that of a user seeded before, with another sub: choose another one, or start with --reset.',
    ),
  ];
  if (mistakes.length > 0) throw new SeedError(file, mistakes);
  return content;
}

/**
 * Loads what a stack shall hold and resolves with it. What a --seed FILE has taken over of the demo data, now or
 * before, stays as the file says.
 */
export async function loadData(plan: StackPlan, seed: SeedContent | undefined): Promise<SeedContent> {
  const demo = { partners: demoPartners(plan.demoPartnerUrl), users: allDemoUsers };
  const remembered = rememberedSeed(plan.run);
  const seeded = seed ? mergeSeeds(remembered, seed) : remembered;
  const takenOver = new Set(seeded.partners.map(({ clientId }) => clientId));
  await withClient(databaseUrl(plan, 'postgres'), async (client) => {
    await seedDemoData(
      client,
      demo.partners.filter(({ clientId }) => !takenOver.has(clientId)),
    );
    if (seed) await seedContent(client, seed);
  });
  if (seed) writeWhole(plan.run.seedFile, seeded);
  return mergeSeeds(demo, seeded);
}

/** Partners and users of `added` replace those of the same client id and sub. */
function mergeSeeds(content: SeedContent, added: SeedContent): SeedContent {
  return {
    partners: merge(content.partners, added.partners, ({ clientId }) => clientId),
    users: merge(content.users, added.users, ({ sub }) => sub),
  };
}

function merge<T>(items: readonly T[], added: readonly T[], key: (item: T) => string): readonly T[] {
  return [...new Map([...items, ...added].map((item) => [key(item), item])).values()];
}

/** Those of `added` whose e-mail a user of `known` has under another sub. */
function emailClashes(added: readonly SeedUser[], known: readonly SeedUser[]): readonly string[] {
  const replaced = new Set(added.map(({ sub }) => sub));
  const taken = new Set(known.filter(({ sub }) => !replaced.has(sub)).map(({ email }) => foldEmail(email)));
  return added.flatMap(({ email }, index) =>
    taken.has(foldEmail(email)) ? [`users[${index}].email ${JSON.stringify(email)}`] : [],
  );
}
