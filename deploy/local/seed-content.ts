// What a stack holds: the demo data, and what --seed files have brought, which is remembered beside the data until
// --reset.
import { foldEmail } from '@course-exchange/rules/email';
import type { StartOptions } from './arguments.ts';
import { allDemoUsers, demoPartners } from './demo-accounts.ts';
import type { StackPlan } from './plan.ts';
import { databaseUrl, withClient } from './postgres.ts';
import { type RunDirectory, readJson, writeWhole } from './run-directory.ts';
import { seedContent, seedDemoData } from './seed.ts';
import { readSeedFile, type SeedContent, SeedError, type SeedUser } from './seed-file.ts';

export function rememberedSeed({ seedFile }: RunDirectory): SeedContent {
  return { partners: [], users: [], ...readJson<Partial<SeedContent>>(seedFile, {}) };
}

/** Throws a SeedError that names every mistake. */
export function readNewSeed(
  run: RunDirectory,
  { seed: file, reset }: Pick<StartOptions, 'seed' | 'reset'>,
): SeedContent | undefined {
  if (file === undefined) return undefined;
  const content = readSeedFile(file);
  const again = 'a user seeded before, with another sub: choose another one, or start with --reset.';
  const mistakes = [
    ...emailClashes(content.users, allDemoUsers, 'a demo user: choose another one.'),
    ...emailClashes(content.users, reset ? [] : rememberedSeed(run).users, again),
  ];
  if (mistakes.length > 0) throw new SeedError(file, mistakes);
  return content;
}

/** Resolves with what the stack holds. What a --seed FILE has taken over of the demo data stays as the file says. */
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
  const partners = [...content.partners, ...added.partners].map((one) => [one.clientId, one] as const);
  const users = [...content.users, ...added.users].map((one) => [one.sub, one] as const);
  return { partners: [...new Map(partners).values()], users: [...new Map(users).values()] };
}

/** A sentence for each of `added` whose e-mail a user of `known` has under another sub. */
function emailClashes(added: readonly SeedUser[], known: readonly SeedUser[], whose: string) {
  const replaced = new Set(added.map(({ sub }) => sub));
  const taken = new Set(known.filter(({ sub }) => !replaced.has(sub)).map(({ email }) => foldEmail(email)));
  return added.flatMap(({ email }, index) =>
    taken.has(foldEmail(email)) ? [`users[${index}].email ${JSON.stringify(email)} is that of ${whose}`] : [],
  );
}
