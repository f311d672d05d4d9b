// Clients on the operator's side: registration, approval, edits that meet, declared sets.
import { describe, expect, test } from 'vitest';
import { editClient, getClient, registerClient } from '../../services/identity/src/clients/admin.ts';
import { applyClients, exportClients } from '../../services/identity/src/clients/apply.ts';
import { authenticateClient } from '../../services/identity/src/token/client-authentication.ts';
import {
  anna,
  bert,
  dry,
  expectWinners,
  newRegistration,
  openAdminContext,
  refusalOf,
  useAdminContext,
} from './operator-context.ts';

const { identity, context, register, approve, activate, activeClient, clientStatus } =
  await useAdminContext();
const audited = async () => Number((await identity.sql('select count(*) from audit_log'))[0]?.count);
const invalidClient = expect.objectContaining({ code: 'invalid_client' });

describe('registration', () => {
  test('makes an inactive draft with one secret, which opens once the client is active', async () => {
    const registration = newRegistration();
    const { result } = await register(registration);
    expect(result.client).toMatchObject({ active: false, approvalState: 'draft', version: 1, registration });
    const secret = result.secret?.plain ?? '';
    const before = await clientStatus(registration.clientId);
    expect(() => authenticateClient(before, secret)).toThrow(invalidClient);
    await approve(registration.clientId, 'test');
    await activate(registration.clientId);
    const after = await clientStatus(registration.clientId);
    expect(authenticateClient(after, secret).client.clientId).toBe(registration.clientId);
    await activate(registration.clientId, false);
    const ended = await clientStatus(registration.clientId);
    expect(() => authenticateClient(ended, secret)).toThrow(invalidClient);
  });

  test('says every mistake in a sentence and writes nothing (R3)', async () => {
    const before = await audited();
    const refusal = await refusalOf(
      register(
        newRegistration({
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
    const registration = newRegistration();
    const { result, changes } = await register(registration, dry);
    expect(changes.map(({ action }) => action)).toEqual(['client.register', 'secret.add']);
    expect(result.secret).toBeUndefined();
    expect((await refusalOf(getClient(context, registration.clientId))).code).toBe('not_found');
    expect(await audited()).toBe(before);
  });

  test('a client id with a NUL is told to be wrong: no text in Postgres holds one', async () => {
    const refusal = await refusalOf(getClient(context, 'no\0body'));
    expect([refusal.code, refusal.detail]).toEqual(['invalid_argument', 'A text holds a NUL.']);
  });

  test('of twenty at once of one client id one succeeds', async () => {
    const registration = newRegistration();
    await expectWinners(
      Array.from({ length: 20 }, () => register(registration)),
      1,
      'already_exists',
    );
  });
});

describe('approval', () => {
  test('goes up a step at a time, by a full registration, and is written down with who did it', async () => {
    const registration = newRegistration({ userJourney: '', retentionRequirements: '' });
    await register(registration);
    const { clientId } = registration;
    expect((await refusalOf(approve(clientId, 'approved'))).code).toBe('refused');
    await approve(clientId, 'test', context, bert);
    const gaps = await refusalOf(approve(clientId, 'approved'));
    expect(gaps.detail.split('\n')).toEqual([
      `Client ${clientId} cannot be approved: The user journey is missing.`,
      `Client ${clientId} cannot be approved: The retention requirements are missing.`,
    ]);
    const full = newRegistration({ clientId });
    await editClient(context, anna, { registration: full, expectedVersion: 2 });
    const { result } = await approve(clientId, 'approved');
    expect(result.approvals.map(({ state, by }) => [state, by])).toEqual([
      ['test', 'local:bert'],
      ['approved', 'local:anna'],
    ]);
  });

  test('in production only an approved client may act, and one that falls below stops', async () => {
    const production = openAdminContext(identity, { environment: 'production' });
    const registration = newRegistration({
      redirectUris: { test: [], production: ['https://partner.example/callback'] },
    });
    const { clientId } = registration;
    await registerClient(production, anna, { registration, firstSecret: undefined });
    await approve(clientId, 'test', production);
    expect((await refusalOf(activate(clientId, true, production))).code).toBe('refused');
    await approve(clientId, 'approved', production);
    expect((await activate(clientId, true, production)).result.active).toBe(true);
    expect((await approve(clientId, 'test', production)).result.active).toBe(false);
  });
});

test('of ten edits of one version one is taken, the others are told to read again', async () => {
  const registration = newRegistration();
  await register(registration);
  const edits = Array.from({ length: 10 }, (_, index) =>
    editClient(context, anna, {
      registration: { ...registration, name: `Name ${index}` },
      expectedVersion: 1,
    }),
  );
  await expectWinners(edits, 1, 'conflict');
  expect((await getClient(context, registration.clientId)).version).toBe(2);
});

describe('a declared set', () => {
  const whole = (declarations: Parameters<typeof applyClients>[2]['declarations']) => ({
    declarations,
    deactivateUndeclared: false,
    expectedVersions: new Map<string, number>(),
  });

  test('as exported applies without a change, and twice the same', async () => {
    const before = await audited();
    const declared = await exportClients(context);
    const plan = await applyClients(context, anna, whole(declared));
    expect(new Set(plan.map(({ action }) => action))).toEqual(new Set(['unchanged']));
    expect(await audited()).toBe(before);
  });

  test('is planned, applied as planned, and then unchanged', async () => {
    const registration = newRegistration();
    const set = whole([{ registration, approvalState: 'approved', active: true }]);
    const plan = await applyClients(context, dry, set);
    const applied = await applyClients(context, anna, set);
    expect(applied).toEqual(plan);
    expect(applied.find(({ clientId }) => clientId === registration.clientId)).toMatchObject({
      action: 'register',
    });
    expect(await getClient(context, registration.clientId)).toMatchObject({
      active: true,
      approvalState: 'approved',
    });
    const again = await applyClients(context, anna, set);
    expect(again.flatMap(({ changes }) => changes)).toEqual([]);
  });

  test('is all or nothing, and refused when somebody changed a client after the plan', async () => {
    const [good, bad] = [newRegistration(), newRegistration({ userJourney: '' })];
    const set = whole([
      { registration: good, approvalState: undefined, active: undefined },
      { registration: bad, approvalState: 'approved', active: undefined },
    ]);
    expect((await refusalOf(applyClients(context, anna, set))).code).toBe('refused');
    expect((await refusalOf(getClient(context, good.clientId))).code).toBe('not_found');
    await register(good);
    const stale = { ...whole([]), expectedVersions: new Map([[good.clientId as string, 0]]) };
    expect((await refusalOf(applyClients(context, anna, stale))).code).toBe('conflict');
  });

  test('may deactivate whom it does not name, and deletes nobody', async () => {
    const { clientId: left } = await activeClient();
    const declarations = (await exportClients(context)).filter(
      ({ registration }) => registration.clientId !== left,
    );
    const plan = await applyClients(context, dry, whole(declarations));
    expect(plan.find(({ clientId }) => clientId === left)?.action).toBe('undeclared');
    await applyClients(context, anna, { ...whole(declarations), deactivateUndeclared: true });
    expect(await getClient(context, left)).toMatchObject({ active: false });
  });
});
