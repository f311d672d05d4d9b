// Clients on the operator's side: registration, approval, edits that meet, declared sets, secrets that overlap.
import { randomBytes } from 'node:crypto';
import { createLogger } from '@course-exchange/runtime/logger';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authenticateClient } from '../../services/identity/src/grants/client-authentication.ts';
import { setActive } from '../../services/identity/src/operator/clients/activation.ts';
import { applyClients } from '../../services/identity/src/operator/clients/apply-clients.ts';
import { editClient } from '../../services/identity/src/operator/clients/edit-client.ts';
import { exportClients, getClient } from '../../services/identity/src/operator/clients/read-clients.ts';
import { registerClient } from '../../services/identity/src/operator/clients/register-client.ts';
import { setApproval } from '../../services/identity/src/operator/clients/set-approval.ts';
import type { Desk } from '../../services/identity/src/operator/desk.ts';
import { addSecret } from '../../services/identity/src/operator/secrets/add-secret.ts';
import { listSecrets } from '../../services/identity/src/operator/secrets/list-secrets.ts';
import { retireSecret } from '../../services/identity/src/operator/secrets/retire-secret.ts';
import { createSecretUse } from '../../services/identity/src/secret-use.ts';
import { readStanding } from '../../services/identity/src/store/postgres/grant-standing.ts';
import { type IdentityDatabase, openIdentityDatabase } from './identity-stores.ts';
import { anna, bert, dry, newDossier, openDesk, refusalOf } from './operator-desk.ts';

const quiet = createLogger('test', 'error', () => {});
let identity: IdentityDatabase;
let desk: Desk;

beforeAll(async () => {
  identity = await openIdentityDatabase();
  desk = openDesk(identity);
});
afterAll(() => identity.close());

const register = (dossier = newDossier(), order = anna) =>
  registerClient(desk, order, { dossier, firstSecret: { expiresIn: null } });
const move = (clientId: string, state: 'draft' | 'test' | 'approved', of = desk, order = anna) =>
  setApproval(of, order, { clientId, state, note: '', expectedVersion: 0 });
const activate = (clientId: string, active = true, of = desk) =>
  setActive(of, anna, { clientId, active, expectedVersion: 0 });
const standingOf = async (clientId: string) => (await readStanding(identity.database, clientId, null)).client;
const audited = async () => Number((await identity.sql('select count(*) from audit_log'))[0]?.count);

describe('registration', () => {
  test('makes an inactive draft with one secret, which opens once the client is active', async () => {
    const dossier = newDossier();
    const { result } = await register(dossier);
    expect(result.client).toMatchObject({ active: false, approvalState: 'draft', version: 1, dossier });
    const secret = result.secret?.plain ?? '';
    const before = await standingOf(dossier.clientId);
    expect(() => authenticateClient(before, secret)).toThrow(
      expect.objectContaining({ code: 'invalid_client' }),
    );
    await move(dossier.clientId, 'test');
    await activate(dossier.clientId);
    const after = await standingOf(dossier.clientId);
    expect(authenticateClient(after, secret).client.clientId).toBe(dossier.clientId);
    await activate(dossier.clientId, false);
    const ended = await standingOf(dossier.clientId);
    expect(() => authenticateClient(ended, secret)).toThrow(
      expect.objectContaining({ code: 'invalid_client' }),
    );
  });

  test('says every mistake in a sentence and writes nothing (R3)', async () => {
    const before = await audited();
    const refusal = await refusalOf(
      register(
        newDossier({
          name: '',
          scopes: ['openid', 'admin' as 'openid'],
          redirectUris: {
            test: ['https://a.example/cb?x=1', 'ftp://a.example/'],
            production: ['http://localhost/'],
          },
        }),
      ),
    );
    expect(refusal.code).toBe('invalid_argument');
    expect(refusal.detail.split('\n')).toEqual([
      'The name is not 1 to 100 printable characters without spaces at its beginning and end.',
      'The scope "admin" is none of openid, profile, email.',
      'Redirect URI "https://a.example/cb?x=1" (test): It holds a query or a fragment.',
      'Redirect URI "ftp://a.example/" (test): It is not https://host/path without a user name.',
      'Redirect URI "http://localhost/" (production): Its scheme is not https.',
    ]);
    expect(await audited()).toBe(before);
  });

  test('run dry checks all, tells the change, and leaves no trace', async () => {
    const before = await audited();
    const dossier = newDossier();
    const { result, changes } = await register(dossier, dry);
    expect(changes.map(({ action }) => action)).toEqual(['client.register', 'secret.add']);
    expect(result.secret).toBeUndefined();
    expect((await refusalOf(getClient(desk, dossier.clientId))).code).toBe('not_found');
    expect(await audited()).toBe(before);
  });

  test('of twenty at once of one client id one succeeds', async () => {
    const dossier = newDossier();
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => register(dossier)));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of all)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'already_exists' });
  });
});

describe('approval', () => {
  test('goes up a step at a time, by a full dossier, and is written down with who did it', async () => {
    const dossier = newDossier({ userJourney: '', retentionRequirements: '' });
    await register(dossier);
    const { clientId } = dossier;
    expect((await refusalOf(move(clientId, 'approved'))).code).toBe('refused');
    await move(clientId, 'test', desk, bert);
    const gaps = await refusalOf(move(clientId, 'approved'));
    expect(gaps.detail.split('\n')).toEqual([
      `Client ${clientId} cannot be approved: The user journey is missing.`,
      `Client ${clientId} cannot be approved: The retention requirements are missing.`,
    ]);
    const full = newDossier({ clientId });
    await editClient(desk, anna, { dossier: full, expectedVersion: 2 });
    const { result } = await move(clientId, 'approved');
    expect(result.approvals.map(({ state, by }) => [state, by])).toEqual([
      ['test', 'local:bert'],
      ['approved', 'local:anna'],
    ]);
  });

  test('in production only an approved client may act, and one that falls below stops', async () => {
    const production = openDesk(identity, { environment: 'production' });
    const dossier = newDossier({
      redirectUris: { test: [], production: ['https://partner.example/callback'] },
    });
    const { clientId } = dossier;
    await registerClient(production, anna, { dossier, firstSecret: undefined });
    await move(clientId, 'test', production);
    expect((await refusalOf(activate(clientId, true, production))).code).toBe('refused');
    await move(clientId, 'approved', production);
    expect((await activate(clientId, true, production)).result.active).toBe(true);
    expect((await move(clientId, 'test', production)).result.active).toBe(false);
  });
});

test('of ten edits of one version one is taken, the others are told to read again', async () => {
  const dossier = newDossier();
  await register(dossier);
  const edits = Array.from({ length: 10 }, (_, index) =>
    editClient(desk, anna, { dossier: { ...dossier, name: `Name ${index}` }, expectedVersion: 1 }),
  );
  const all = await Promise.allSettled(edits);
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const one of all)
    if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'conflict' });
  expect((await getClient(desk, dossier.clientId)).version).toBe(2);
});

describe('a declared set', () => {
  const whole = (declarations: Parameters<typeof applyClients>[2]['declarations']) => ({
    declarations,
    deactivateUndeclared: false,
    expectedVersions: new Map<string, number>(),
  });

  test('as exported applies without a change, and twice the same', async () => {
    const before = await audited();
    const declared = await exportClients(desk);
    const plan = await applyClients(desk, anna, whole(declared));
    expect(new Set(plan.map(({ action }) => action))).toEqual(new Set(['unchanged']));
    expect(await audited()).toBe(before);
  });

  test('is planned, applied as planned, and then unchanged', async () => {
    const dossier = newDossier();
    const set = whole([{ dossier, approvalState: 'approved', active: true }]);
    const plan = await applyClients(desk, dry, set);
    const applied = await applyClients(desk, anna, set);
    expect(applied).toEqual(plan);
    expect(applied.find(({ clientId }) => clientId === dossier.clientId)).toMatchObject({
      action: 'register',
    });
    expect(await getClient(desk, dossier.clientId)).toMatchObject({
      active: true,
      approvalState: 'approved',
    });
    const again = await applyClients(desk, anna, set);
    expect(again.flatMap(({ changes }) => changes)).toEqual([]);
  });

  test('is all or nothing, and refused when somebody changed a client after the plan', async () => {
    const [good, bad] = [newDossier(), newDossier({ userJourney: '' })];
    const set = whole([
      { dossier: good, approvalState: undefined, active: undefined },
      { dossier: bad, approvalState: 'approved', active: undefined },
    ]);
    expect((await refusalOf(applyClients(desk, anna, set))).code).toBe('refused');
    expect((await refusalOf(getClient(desk, good.clientId))).code).toBe('not_found');
    await register(good);
    const stale = { ...whole([]), expectedVersions: new Map([[good.clientId as string, 0]]) };
    expect((await refusalOf(applyClients(desk, anna, stale))).code).toBe('conflict');
  });

  test('may deactivate whom it does not name, and deletes nobody', async () => {
    const dossier = newDossier();
    await register(dossier);
    await move(dossier.clientId, 'test');
    await activate(dossier.clientId);
    const declarations = (await exportClients(desk)).filter(
      (one) => one.dossier.clientId !== dossier.clientId,
    );
    const left = await applyClients(desk, dry, whole(declarations));
    expect(left.find(({ clientId }) => clientId === dossier.clientId)?.action).toBe('undeclared');
    await applyClients(desk, anna, { ...whole(declarations), deactivateUndeclared: true });
    expect(await getClient(desk, dossier.clientId)).toMatchObject({ active: false });
  });
});

describe('secrets', () => {
  test('overlap: old and new open until the old one is retired, which its last use allows', async () => {
    const dossier = newDossier();
    const { clientId } = dossier;
    const old = (await register(dossier)).result.secret;
    await move(clientId, 'test');
    await activate(clientId);
    const retire = (evenIfInUse: boolean) =>
      retireSecret(desk, anna, { clientId, secretId: old?.secretId ?? '', evenIfInUse });
    expect((await refusalOf(retire(false))).code).toBe('refused');

    const added = (await addSecret(desk, anna, { clientId, expiresIn: 7 * 86_400_000 })).result;
    const use = createSecretUse(identity.database, Date.now, quiet);
    for (const plain of [old?.plain, added.plain]) {
      const { secretHash } = authenticateClient(await standingOf(clientId), plain ?? '');
      for (let times = 0; times < 5; times += 1) use(dossier.clientId, secretHash);
    }
    await expect
      .poll(async () => (await listSecrets(desk, clientId)).every(({ lastUsedAt }) => lastUsedAt !== null))
      .toBe(true);

    const inUse = await refusalOf(retire(false));
    expect(inUse.code).toBe('refused_until');
    expect((inUse.possibleAt ?? 0) - Date.now()).toBeGreaterThan(23 * 3_600_000);
    await identity.sql(
      `update client_secrets set last_used_at = now() - interval '25 hours' where secret_id = $1`,
      [old?.secretId],
    );
    await retire(false);
    const standing = await standingOf(clientId);
    expect(() => authenticateClient(standing, old?.plain ?? '')).toThrow(
      expect.objectContaining({ code: 'invalid_client' }),
    );
    expect(authenticateClient(standing, added.plain ?? '').client.clientId).toBe(clientId);
    expect((await getClient(desk, clientId)).warnings).toEqual([
      expect.stringMatching(`Secret ${added.secretId} expires at`),
    ]);
  });

  test('stays while its partner has used no other one, however long it was quiet', async () => {
    const dossier = newDossier();
    const { clientId } = dossier;
    const old = (await register(dossier)).result.secret;
    await move(clientId, 'test');
    await activate(clientId);
    await addSecret(desk, anna, { clientId, expiresIn: 7 * 86_400_000 });
    await identity.sql(
      `update client_secrets set last_used_at = now() - interval '8 days' where secret_id = $1`,
      [old?.secretId],
    );
    const retire = (evenIfInUse: boolean) =>
      retireSecret(desk, anna, { clientId, secretId: old?.secretId ?? '', evenIfInUse });
    expect((await refusalOf(retire(false))).code).toBe('refused');
    expect((await retire(true)).result.retiredAt).not.toBeNull();
  });

  test('that others know is retired at once, also the last one', async () => {
    const dossier = newDossier();
    const { secret } = (await register(dossier)).result;
    await move(dossier.clientId, 'test');
    await activate(dossier.clientId);
    const asked = { clientId: dossier.clientId, secretId: secret?.secretId ?? '', evenIfInUse: true };
    const { result } = await retireSecret(desk, anna, asked);
    expect(result.retiredAt).not.toBeNull();
    expect((await retireSecret(desk, anna, asked)).changes).toEqual([]);
    expect((await getClient(desk, dossier.clientId)).warnings).toEqual([
      'The client is active without a valid secret.',
    ]);
  });

  test('are ten at most, also when twenty are added at once', async () => {
    const { clientId } = (await register()).result.client.dossier;
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, () => addSecret(desk, anna, { clientId, expiresIn: null })),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(9);
  });

  test('run dry gives out no secret', async () => {
    const { clientId } = (await register()).result.client.dossier;
    const { result } = await addSecret(desk, dry, { clientId, expiresIn: 60_000 });
    expect(result.plain).toBeUndefined();
    expect(await listSecrets(desk, clientId)).toHaveLength(1);
    const short = addSecret(desk, anna, { clientId, expiresIn: 1_000 });
    expect((await refusalOf(short)).code).toBe('invalid_argument');
  });
});

test('no secret and no contact of a partner is in the audit log', async () => {
  const canary = `canary-${randomBytes(6).toString('hex')}`;
  const dossier = newDossier({
    technicalContact: { name: canary, email: `${canary}@partner.example`, phone: canary },
  });
  const { secret } = (await register(dossier)).result;
  const edited = {
    ...dossier,
    credentialContacts: [{ name: canary, email: `${canary}@b.example`, phone: '' }],
  };
  await editClient(desk, anna, { dossier: edited, expectedVersion: 1 });
  const rows = await identity.sql(`select audit_log::text as row from audit_log`);
  const log = rows.map(({ row }) => row).join('\n');
  expect(log).not.toContain(canary);
  expect(log).not.toContain(secret?.plain ?? '-');
  expect(log).toContain(dossier.clientId);
});
