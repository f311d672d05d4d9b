// Clients on the operator's side: registration, approval, edits that meet, declared sets.
import { expect, test } from 'vitest';
import { editClient, getClient, registerClient } from '../../services/identity/src/clients/admin.ts';
import { applyClients, exportClients } from '../../services/identity/src/clients/apply.ts';
import {
  anna,
  dry,
  expectWinners,
  newRegistration,
  openAdminContext,
  refusalOf,
  useAdminContext,
} from './operator-context.ts';

const { identity, context, register, approve, activate, activeClient } = await useAdminContext();
const audited = async () => Number((await identity.sql('select count(*) from audit_log'))[0]?.count);

test('a client id with a NUL is refused: no text in Postgres holds one', async () => {
  const refusal = await refusalOf(getClient(context, 'no\0body'));
  expect([refusal.code, refusal.detail]).toEqual(['invalid_argument', 'A text holds a NUL.']);
});

test('of twenty registrations of one client id at once one succeeds', async () => {
  const registration = newRegistration();
  await expectWinners(
    Array.from({ length: 20 }, () => register(registration)),
    1,
    'already_exists',
  );
});

const production = openAdminContext(identity, { environment: 'production' });
const newProductionRegistration = () =>
  newRegistration({ redirectUris: { test: [], production: ['https://partner.example/callback'] } });
const figures = { users: 3, events: 4 };

/** Registers a client in production and moves it to the state test. */
async function tested() {
  const registration = newProductionRegistration();
  await registerClient(production, anna, { registration, firstSecret: undefined });
  await approve(registration.clientId, 'test', production);
  return registration;
}

test('in production only an approved client may act, and one that falls below stops', async () => {
  const { clientId } = await tested();
  expect((await refusalOf(activate(clientId, true, production))).code).toBe('refused');
  await approve(clientId, 'approved', production, figures);
  expect((await activate(clientId, true, production)).result.active).toBe(true);
  expect((await approve(clientId, 'test', production)).result.active).toBe(false);
});

test('production approves on confirmed figures, which the audit log keeps with who confirmed them', async () => {
  const { clientId } = await tested();
  const { code, detail } = await refusalOf(approve(clientId, 'approved', production));
  expect(code).toBe('refused');
  expect(detail).toContain(`partnerctl client approve ${clientId} --volume-confirmed`);
  await approve(clientId, 'approved', production, figures);
  const entries = await identity.sql(
    `select actor, fields from audit_log where client_id = $1 and action = 'client.approval' order by sequence`,
    [clientId],
  );
  expect(entries).toMatchObject([
    { fields: [{ field: 'approval_state' }] },
    {
      actor: anna.actor,
      fields: [{ field: 'approval_state' }, { field: 'confirmed_volume', after: JSON.stringify(figures) }],
    },
  ]);
});

test('in production a declared set approves no client, and keeps one that is approved', async () => {
  const registration = await tested();
  const set = whole([{ registration, approvalState: 'approved', active: true }]);
  const { code, detail } = await refusalOf(applyClients(production, anna, set));
  expect(code).toBe('refused');
  expect(detail).toContain('--volume-confirmed');
  await approve(registration.clientId, 'approved', production, figures);
  await applyClients(production, anna, set);
  expect(await getClient(production, registration.clientId)).toMatchObject({ active: true });
});

test('of ten edits of one version one succeeds, the others are conflicts', async () => {
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

const whole = (declarations: Parameters<typeof applyClients>[2]['declarations']) => ({
  declarations,
  deactivateUndeclared: false,
  expectedVersions: new Map<string, number>(),
});

test('a declared set is planned, applied as planned, and then unchanged', async () => {
  const registration = newRegistration();
  const set = whole([{ registration, approvalState: 'approved', active: true }]);
  const before = await audited();
  const plan = await applyClients(context, dry, set);
  expect(await audited()).toBe(before);
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

test('a declared set is all or nothing, and refused when somebody changed a client after the plan', async () => {
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

test('a declared set may deactivate clients that it does not name, and deletes none', async () => {
  const { clientId: left } = await activeClient();
  const declarations = (await exportClients(context)).filter(
    ({ registration }) => registration.clientId !== left,
  );
  const plan = await applyClients(context, dry, whole(declarations));
  expect(plan.find(({ clientId }) => clientId === left)?.action).toBe('undeclared');
  await applyClients(context, anna, { ...whole(declarations), deactivateUndeclared: true });
  expect(await getClient(context, left)).toMatchObject({ active: false });
});
