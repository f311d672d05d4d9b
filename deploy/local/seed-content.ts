// What a stack holds: the demo data, and what --seed files have brought, which is remembered beside the data until
// --reset.
import { allDemoUsers, demoPartners } from './demo-accounts.ts';
import type { StackPlan } from './plan.ts';
import { databaseUrl, withClient } from './postgres.ts';
import { readJson, writeWhole } from './run-directory.ts';
import { seedContent, seedDemoData } from './seed.ts';
import type { SeedContent } from './seed-file.ts';

/** Resolves with what the stack holds. What a --seed FILE has taken over of the demo data stays as the file says. */
export async function loadData(plan: StackPlan, seed: SeedContent | undefined): Promise<SeedContent> {
  const demo = { partners: demoPartners(plan.demoPartnerUrl), users: allDemoUsers };
  const remembered = readJson<SeedContent>(plan.run.seedFile, { partners: [], users: [] });
  const seeded = seed ? mergeSeeds(remembered, seed) : remembered;
  const takenOver = new Set(seeded.partners.map(({ clientId }) => clientId));
  const partners = demo.partners.filter(({ clientId }) => !takenOver.has(clientId));
  await withClient(databaseUrl(plan, 'postgres'), async (client) => {
    await seedDemoData(client, partners);
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
