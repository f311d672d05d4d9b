// Signing keys as a pod reads them, what identity's role may write, and the plans of the hot statements.
import { randomBytes } from 'node:crypto';
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { Secret } from '@course-exchange/runtime/process/secret';
import { expect, test } from 'vitest';
import { keyEncryptionKey } from '../../../../test/stores/identity-grant.ts';
import { useIdentityDatabase } from '../../../../test/stores/postgres.ts';
import { findConsent } from '../consents/consent-table.ts';
import type { ClientId, ConsentId, Sub } from '../ids.ts';
import { loadGrantStatus } from '../token/grant-status-table.ts';
import {
  countUsersOfForm,
  findUserByEmail,
  listEmailsOfKeys,
  listPasswordForms,
  listUnkeyedForeignEmails,
  readAccounts,
  readKnownUsers,
} from '../users/user-table.ts';
import { insertFirstKey, listPublishedKeys } from './key-table.ts';
import { generateSigningKey } from './private-key.ts';
import { createKeyRing, type KeyRing } from './ring.ts';

const identity = await useIdentityDatabase();

function podWith(key = keyEncryptionKey): KeyRing {
  return createKeyRing({
    readKeys: () => listPublishedKeys(identity.database),
    encryptionKeys: [key],
    needed: ['ES256'],
  });
}

test('a pod before the first key says so and has nothing to sign with', async () => {
  const pod = podWith();
  expect(pod.problem()).toBe('Signing keys were not read yet');
  await pod.refresh();
  expect(pod.problem()).toBe('Signing keys are missing: no active key for ES256; run the migrations');
  expect(() => pod.signingKey('ES256')).toThrow(expect.objectContaining({ code: 'temporarily_unavailable' }));
});

test('one of twenty first migrations at once makes the key', async () => {
  const newKey = () => generateSigningKey({ keyEncryptionKey, randomBytes }, 'ES256');
  const made = await Promise.all(
    Array.from({ length: 20 }, async () => insertFirstKey(identity.owner, await newKey())),
  );
  expect(made.filter(Boolean)).toHaveLength(1);
});

test('private keys rest encrypted; a wrong key is a sentence, and the key set is published all the same [R18.4]', async () => {
  const [row] = await identity.sql(`select private_key, public_jwk from signing_keys limit 1`);
  expect(Buffer.from(row?.private_key as Buffer).includes('BEGIN')).toBe(false);
  expect(row?.public_jwk).not.toHaveProperty('d');
  const pod = podWith(new Secret(randomBytes(32)));
  await pod.refresh();
  expect(pod.problem()).toBe('KEY_ENCRYPTION_KEY does not decrypt the signing keys in Postgres');
  expect(pod.publishedKeys()).toHaveLength(1);
  expect(() => pod.signingKey('ES256')).toThrow(expect.objectContaining({ code: 'temporarily_unavailable' }));
});

test('design-api cannot be a client id [R15.3]', async () => {
  const insert = `insert into clients (client_id, name, scopes, redirect_uris) values ('design-api', 'x', '{openid}', '{https://x}')`;
  await expect(identity.sql(insert)).rejects.toMatchObject({ code: '23514' });
});

test('the service may read, and write nothing but consents', async () => {
  const attempt = (text: string) => identity.database.query({ name: '', text }, []);
  for (const text of [
    'update users set name = name',
    'delete from clients',
    'update signing_keys set state = state',
    'delete from consents',
    'create table x (y int)',
  ])
    await expect(attempt(text)).rejects.toMatchObject({ code: '42501' });
});

async function fill(): Promise<void> {
  await identity.sql(`insert into users (sub, email, password_hash)
    select 'u' || n, 'u' || n || '@example.org', '-' from generate_series(1, 20000) n`);
  await identity.sql(`insert into clients (client_id, name, active, scopes, redirect_uris)
    select 'c' || n, 'c', true, '{openid}', '{https://c.example/}' from generate_series(1, 500) n`);
  await identity.sql(`insert into client_secrets (client_id, secret_hash)
    select 'c' || n, sha256(n::text::bytea) from generate_series(1, 500) n`);
  await identity.sql(`insert into consents (consent_id, sub, client_id, scopes)
    select 'k' || n, 'u' || n, 'c' || (n % 500 + 1), '{openid}' from generate_series(1, 20000) n`);
  await identity.sql('analyze');
}

test('the statements of every request find their rows by index', async () => {
  await fill();
  const plans: string[] = [];
  const explain: Queries['query'] = async ({ text }, values) => {
    const rows = await identity.sql(`explain ${text}`, [...values]);
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    return [];
  };
  const database = { query: explain };
  await loadGrantStatus(database, 'c1', 'k500' as ConsentId);
  await findUserByEmail(database, 'u9@example.org');
  await readAccounts(database, { email: 'u9@example.org' });
  await listUnkeyedForeignEmails(database);
  await readKnownUsers(database, ['u9'], ['u9@example.org']);
  await listEmailsOfKeys(database, ['u9@example.org']);
  await listPasswordForms(database);
  await countUsersOfForm(database, '$2b$12$').catch(() => {});
  await findConsent(database, 'u500' as Sub, 'c1' as ClientId);
  expect(plans).toHaveLength(9);
  for (const plan of plans) {
    expect(plan).not.toContain('Seq Scan');
    expect(plan).toContain('Index');
  }
});
