// Loads partners, users and designs: each load is one transaction, so that nothing half loaded is ever seen.
import { createHash } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import type pg from 'pg';
import { type DemoDesign, demoDesigns } from './demo-designs.ts';
import { demoPeople } from './demo-people.ts';
import type { SeedContent } from './seed-content.ts';
import type { Partner, Person } from './seed-form.ts';

/** As the identity service hashes: a demo login costs what a real one costs. Memory in KiB. */
const hashing = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** Every seeded row bears this time, so that the demo data are the same at every run. */
const seededAt = '2026-03-01T08:00:00.000Z';
const batchSize = 10_000;

/**
 * What happens to partners and users that are there already. `update`: they become what the seed says. `keep`: they
 * stay as operators have left them; a secret that is new is added, and a redirect URI of the demo partners.
 */
export type Known = 'update' | 'keep';

/** Adds what is missing of the demo data. The demo partner's port may be new. */
export async function seedDemoData(
  client: pg.Client,
  partners: readonly Partner[],
  known: Known = 'update',
): Promise<void> {
  await inTransaction(client, async () => {
    for (const partner of partners) {
      await putPartner(client, partner, known);
      if (known === 'keep') await addRedirectUris(client, partner);
    }
    const missing = await missingPeople(client, demoPeople);
    for (const person of missing) await putPerson(client, person, known);
    const subs = new Set(missing.map(({ sub }) => sub));
    if (subs.size > 0) await putDesigns(client, demoDesigns(), subs);
  });
}

/** Adds partners and users of a file; all of them or none. */
export async function seedContent(
  client: pg.Client,
  content: SeedContent,
  known: Known = 'update',
): Promise<void> {
  await inTransaction(client, async () => {
    for (const partner of content.partners) await putPartner(client, partner, known);
    for (const person of content.people) await putPerson(client, person, known);
  });
}

async function missingPeople(client: pg.Client, wanted: readonly Person[]): Promise<readonly Person[]> {
  const found = await client.query<{ sub: string }>('select sub from identity.users where sub = any($1)', [
    wanted.map(({ sub }) => sub),
  ]);
  const known = new Set(found.rows.map(({ sub }) => sub));
  return wanted.filter(({ sub }) => !known.has(sub));
}

const partnerConflicts: Readonly<Record<Known, string>> = {
  update: `on conflict (client_id) do update set name = excluded.name, active = excluded.active,
    scopes = excluded.scopes, redirect_uris = excluded.redirect_uris`,
  keep: 'on conflict do nothing',
};

const personConflicts: Readonly<Record<Known, string>> = {
  update: `on conflict (sub) do update set email = excluded.email, email_verified = excluded.email_verified,
    name = excluded.name, password_hash = excluded.password_hash, disabled_at = excluded.disabled_at`,
  // Also where somebody else has the e-mail address by now.
  keep: 'on conflict do nothing',
};

async function putPartner(client: pg.Client, partner: Partner, known: Known): Promise<void> {
  await client.query(
    `insert into identity.clients (client_id, name, active, scopes, redirect_uris, created_at)
     values ($1, $2, $3, $4, $5, $6)
     ${partnerConflicts[known]}`,
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

async function putPerson(client: pg.Client, person: Person, known: Known): Promise<void> {
  await client.query(
    `insert into identity.users (sub, email, email_verified, name, password_hash, disabled_at, created_at)
     values ($1, $2, $3, $4, $5, case when $6 then $7::timestamptz end, $7)
     ${personConflicts[known]}`,
    [
      person.sub,
      person.email,
      person.emailVerified ?? true,
      person.name,
      await hash(person.password, hashing),
      person.disabled ?? false,
      seededAt,
    ],
  );
}

async function putDesigns(
  client: pg.Client,
  designs: Iterable<DemoDesign>,
  owners: ReadonlySet<string>,
): Promise<void> {
  let batch: DemoDesign[] = [];
  for (const design of designs) {
    if (owners.has(design.owner)) batch.push(design);
    if (batch.length < batchSize) continue;
    await insertDesigns(client, batch);
    batch = [];
  }
  await insertDesigns(client, batch);
  await client.query('analyze catalog.designs');
  await client.query('analyze catalog.event_summaries');
}

async function insertDesigns(client: pg.Client, batch: readonly DemoDesign[]): Promise<void> {
  const column = (name: keyof DemoDesign) => batch.map((design) => design[name]);
  await client.query(
    `insert into catalog.designs (id, owner, local_id, event_id, title, event_name, event_date,
       updated_at, author_name, short_descr, deleted_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
       $7::timestamptz[], $8::timestamptz[], $9::text[], $10::text[], $11::timestamptz[])
     on conflict do nothing`,
    [
      column('id'),
      column('owner'),
      column('localId'),
      column('eventId'),
      column('title'),
      column('eventName'),
      column('eventDate'),
      column('updatedAt'),
      column('authorName'),
      column('shortDescr'),
      column('deletedAt'),
    ],
  );
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await work();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}
