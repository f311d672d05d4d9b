// The order in which the stack comes up: stores, roles, migrations, data, services, demo partner.
import { migrateBoth, prepareDatabase, withClient } from './database.ts';
import { demoPartners } from './demo-partners.ts';
import { demoPeople } from './demo-people.ts';
import { postgresUrl } from './embedded-postgres.ts';
import { bringUp, type Member, type RunningMember } from './members.ts';
import type { Processes } from './processes.ts';
import { seedContent, seedDemoData } from './seed.ts';
import type { SeedContent } from './seed-content.ts';
import { mergeSeeds, rememberedSeed, rememberSeed } from './seed-memory.ts';
import {
  catalogMember,
  demoPartnerMember,
  gatewayMember,
  identityMember,
  type StackPlan,
} from './service-members.ts';
import { database, postgresMember, redisMember } from './store-members.ts';

export interface AssemblyOptions {
  readonly plan: StackPlan;
  readonly processes: Processes;
  /** Content of a --seed FILE. */
  readonly seed: SeedContent | undefined;
  readonly say: (line: string) => void;
  /** Called for each member as soon as it runs. */
  readonly onMember: (member: RunningMember) => void;
}

/** Resolves when everything answers, with what was loaded. */
export async function assemble(options: AssemblyOptions): Promise<SeedContent> {
  const { plan, say } = options;
  const { run, ports, secrets } = plan;
  say('Starting Postgres and Redis …');
  await bringUpAll(options, [
    await postgresMember(run, ports.postgres, secrets),
    await redisMember(run, ports.redis, secrets),
  ]);
  say('Preparing the database …');
  await prepareDatabase(plan);
  await migrateBoth(options.processes, plan);
  const content = await load(options);
  say('Starting the services …');
  await bringUpAll(options, [identityMember(plan), catalogMember(plan), gatewayMember(plan)]);
  await bringUpAll(options, [demoPartnerMember(plan)]);
  return content;
}

async function bringUpAll(
  { processes, onMember }: AssemblyOptions,
  members: readonly Member[],
): Promise<void> {
  await Promise.all(members.map(async (member) => onMember(await bringUp(processes, member))));
}

/** What a --seed FILE has taken over of the demo data, now or before, stays as the file says. */
async function load({ plan, seed }: AssemblyOptions): Promise<SeedContent> {
  const { run, ports, secrets, demoPartner } = plan;
  const url = postgresUrl(ports.postgres, 'postgres', secrets.postgresSuperuser, database);
  const demo = { partners: demoPartners(demoPartner.url), people: demoPeople };
  const remembered = rememberedSeed(run);
  const seeded = seed ? mergeSeeds(remembered, seed) : remembered;
  const takenOver = new Set(seeded.partners.map(({ clientId }) => clientId));
  await withClient(url, async (client) => {
    await seedDemoData(
      client,
      demo.partners.filter(({ clientId }) => !takenOver.has(clientId)),
    );
    if (seed) await seedContent(client, seed);
  });
  if (seed) rememberSeed(run, seeded);
  return mergeSeeds(demo, seeded);
}
