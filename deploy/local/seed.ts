// The database and its content: roles and migrations, then the demo data and the content of --seed files, which is kept
// until --reset. Each load of partners, users and designs is one transaction.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { emailKey } from '@course-exchange/rules/email';
import type pg from 'pg';
import { hashPassword } from '../../services/identity/src/login/password.ts';
import { allDemoUsers, demoPartners } from './demo-accounts.ts';
import { type DemoDesign, demoDesigns, seasonOf } from './demo-designs.ts';
import type { StackPlan } from './plan.ts';
import { database, databaseUrl, withClient } from './postgres.ts';
import { type Processes, runToEnd } from './processes.ts';
import { checkout, type Role, readJson, roles, writeWhole } from './run-directory.ts';
import type { Partner, SeedContent, SeedUser } from './seed-file.ts';
import { nodeProgram } from './services.ts';

const seededAt = '2026-03-01T08:00:00.000Z';
const batchSize = 10_000;

/** Existing partners and users become what the file says, or stay as operators have left them. */
type OnConflict = 'update' | 'keep';

export async function prepareDatabase(plan: StackPlan): Promise<void> {
  await withClient(databaseUrl(plan, 'postgres', 'postgres'), async (client) => {
    const found = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`create database ${database}`);
  });
  await withClient(databaseUrl(plan, 'postgres'), async (client) => {
    await client.query(readFileSync(join(checkout, 'deploy/postgres/roles.sql'), 'utf8'));
    for (const role of roles)
      await client.query(`alter role ${role} password ${client.escapeLiteral(plan.secrets[role])}`);
  });
}

export async function migrateBoth(processes: Processes, plan: StackPlan): Promise<void> {
  const migrate = (service: string, role: Role, settings: Readonly<Record<string, string>> = {}) => {
    const environment = { MIGRATOR_POSTGRES_URL: databaseUrl(plan, role), ...settings };
    const entry = `${service}/src/migrate.ts`;
    return runToEnd(processes, nodeProgram(plan, `${service} migrations`, entry, environment));
  };
  const identity = { KEY_ENCRYPTION_KEY: plan.secrets.keyEncryption };
  await Promise.all([
    migrate('identity', 'identity_migrator', identity),
    migrate('design-catalog', 'catalog_migrator'),
  ]);
}

/** Resolves with the stack's content. Partners that a --seed FILE has taken over stay as the file says. */
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

/** Adds what is missing of the demo data. The demo partner's address may be new. */
export async function seedDemoData(client: pg.Client, partners: readonly Partner[]): Promise<void> {
  const found = await client.query<SeedUser>('select sub from identity.users');
  const known = new Set(found.rows.map(({ sub }) => sub));
  const users = allDemoUsers.filter(({ sub }) => !known.has(sub));
  const owners = new Set(users.map(({ sub }) => sub));
  const designs = demoDesigns().filter(({ owner }) => owners.has(owner));
  await load(client, { partners, users }, 'keep', users.length > 0 ? designs : []);
  for (const partner of partners) await addRedirectUris(client, partner);
}

export async function seedContent(
  client: pg.Client,
  content: SeedContent,
  onConflict: OnConflict = 'update',
): Promise<void> {
  const designs = content.users.flatMap((user) => [...seasonOf(user, user.events ?? 0)]);
  await load(client, content, onConflict, designs);
}

async function load(
  client: pg.Client,
  { partners, users }: SeedContent,
  onConflict: OnConflict,
  designs: Iterable<DemoDesign>,
): Promise<void> {
  await client.query('begin');
  try {
    for (const partner of partners) await putPartner(client, partner, onConflict);
    for (const user of users) await putUser(client, user, onConflict);
    await putDesigns(client, [...designs]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

function conflict(onConflict: OnConflict, key: string, ...columns: readonly string[]): string {
  if (onConflict === 'keep') return 'on conflict do nothing';
  return `on conflict (${key}) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`;
}

async function putPartner(client: pg.Client, partner: Partner, onConflict: OnConflict): Promise<void> {
  await client.query(
    `insert into identity.clients (client_id, name, active, approval_state, scopes, redirect_uris, created_at)
     values ($1, $2, $3, 'approved', $4, $5, $6)
     ${conflict(onConflict, 'client_id', 'name', 'active', 'scopes', 'redirect_uris')}`,
    [partner.clientId, partner.name, partner.active, partner.scopes, partner.redirectUris, seededAt],
  );
  await client.query(
    `insert into identity.client_secrets (client_id, secret_hash, created_at) values ($1, $2, $3)
     on conflict (client_id, secret_hash) do nothing`,
    [partner.clientId, createHash('sha256').update(partner.clientSecret).digest(), seededAt],
  );
}

async function addRedirectUris(client: pg.Client, { clientId, redirectUris }: Partner): Promise<void> {
  await client.query(
    `update identity.clients set redirect_uris = redirect_uris ||
       array(select uri from unnest($2::text[]) uri where not uri = any(redirect_uris))
     where client_id = $1 and not redirect_uris @> $2::text[]`,
    [clientId, redirectUris],
  );
}

async function putUser(client: pg.Client, user: SeedUser, onConflict: OnConflict): Promise<void> {
  const { sub, email, emailVerified, name, password, disabled } = user;
  await client.query(
    `insert into identity.users (sub, email, email_key, email_verified, name, password_hash, disabled_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     ${conflict(onConflict, 'sub', 'email', 'email_key', 'email_verified', 'name', 'password_hash', 'disabled_at')}`,
    [
      ...[sub, email, emailKey(email), emailVerified, name, await hashPassword(password)],
      ...[disabled ? seededAt : null, seededAt],
    ],
  );
}

async function putDesigns(client: pg.Client, designs: readonly DemoDesign[]): Promise<void> {
  if (designs.length === 0) return;
  for (let first = 0; first < designs.length; first += batchSize)
    await client.query(insertDesigns, [JSON.stringify(designs.slice(first, first + batchSize))]);
  await client.query('analyze catalog.designs');
  await client.query('analyze catalog.event_summaries');
}

const insertDesigns = `insert into catalog.designs (id, owner, local_id, event_id, title, event_name, event_date,
       updated_at, author_name, short_descr, deleted_at)
     select id, owner, "localId", "eventId", title, "eventName", "eventDate",
       "updatedAt", "authorName", "shortDescr", "deletedAt"
     from json_to_recordset($1) as design (id text, owner text, "localId" text, "eventId" text, title text,
       "eventName" text, "eventDate" timestamptz, "updatedAt" timestamptz, "authorName" text,
       "shortDescr" text, "deletedAt" timestamptz)
     on conflict do nothing`;
