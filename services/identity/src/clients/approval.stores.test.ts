// Approvals: of the version that the operator has seen, in production on confirmed figures, and by another operator than the
// one who edited.
import { expect, test } from 'vitest';
import {
  anna,
  bert,
  declaredSet,
  dry,
  figures,
  inProduction,
  newRegistration,
  other,
  own,
  refusalOf,
  useProduction,
} from '../../../../test/stores/operator-context.ts';
import { editClient, getClient, registerClient, setActive } from './admin.ts';
import { applyClients } from './apply.ts';
import { setApproval } from './approval.ts';

const { context, production, withoutVersion, approve, activate, tested, edit, versionOf, entriesOf } =
  await useProduction();

test('only an approved client may act in production, and one that falls below stops', async () => {
  const { clientId } = await tested();
  expect((await refusalOf(activate(clientId, production))).code).toBe('refused');
  await approve(clientId, 'approved', production, figures);
  expect((await activate(clientId, production)).result.active).toBe(true);
  expect((await approve(clientId, 'test', production)).result.active).toBe(false);
});

test('production approves on confirmed figures, which the audit log has with who confirmed them', async () => {
  const { clientId } = await tested();
  const { code, detail } = await refusalOf(approve(clientId, 'approved', production));
  expect(code).toBe('refused');
  expect(detail).toContain('add --volume-confirmed');
  const step = { clientId, state: 'approved', note: 'Agreement 7', confirmedVolume: figures } as const;
  await setApproval(production, bert, { ...step, expectedVersion: 2 });
  expect((await entriesOf(clientId))[0]).toEqual({
    ...{ actor: 'local:bert', action: 'client.approval', approval_state: '"approved"' },
    ...{ version: '3', note: '"Agreement 7"', confirmed_volume: JSON.stringify(figures) },
  });
});

test('a declared set approves no client in production, and keeps one that is approved', async () => {
  const registration = await tested();
  const set = declaredSet([{ registration, approvalState: 'approved', active: true }]);
  const { code, detail } = await refusalOf(applyClients(production, anna, set));
  expect(code).toBe('refused');
  expect(detail).toContain('--volume-confirmed');
  await approve(registration.clientId, 'approved', production, figures);
  await applyClients(production, anna, set);
  expect(await getClient(production, registration.clientId)).toMatchObject({ active: true });
});

test.each([
  [
    'a step up',
    (clientId: string, expectedVersion: number) =>
      setApproval(production, anna, {
        ...{ clientId, expectedVersion, state: 'approved', note: '', confirmedVolume: figures },
      }),
  ],
  [
    'an activation',
    (clientId: string, expectedVersion: number) =>
      setActive(context, anna, { clientId, expectedVersion, active: true }),
  ],
])('%s is of the version that was seen, not of what another operator made of it', async (_what, step) => {
  const registration = await tested();
  const { clientId } = registration;
  const seen = await versionOf(clientId);
  await edit({ ...registration, ...inProduction([own, other]) }, '', production, bert);
  const { code, detail } = await refusalOf(step(clientId, seen));
  expect(code).toBe('conflict');
  expect(detail).toContain(`it is in version ${seen + 1}, you have seen version ${seen}.`);
  expect(detail).toContain(`partnerctl client show ${clientId}`);
  expect((await getClient(production, clientId)).active).toBe(false);
  await step(clientId, seen + 1);
});

test('of an approval and an edit at once, one is refused', async () => {
  const registration = await tested();
  const { clientId } = registration;
  const expectedVersion = await versionOf(clientId);
  const step = { clientId, expectedVersion, note: '', confirmedVolume: figures };
  const ended = await Promise.allSettled([
    editClient(production, bert, {
      ...{ registration: { ...registration, ...inProduction([other]) }, expectedVersion, note: '' },
    }),
    setApproval(production, anna, { ...step, state: 'approved' }),
  ]);
  expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(await versionOf(clientId)).toBe(expectedVersion + 1);
});

test('an approval and an activation without a version are accepted, and named; what takes away is not', async () => {
  const { clientId } = await tested();
  withoutVersion.length = 0;
  await approve(clientId, 'approved', production, figures);
  await activate(clientId, production);
  expect(withoutVersion).toEqual([`local:anna ${clientId}`, `local:anna ${clientId}`]);
  await setActive(production, anna, { clientId, active: false, expectedVersion: 0 });
  await approve(clientId, 'draft', production);
  expect(withoutVersion).toHaveLength(2);
});

test('where another operator must approve, the one of the last edit may not', async () => {
  const strict = { ...production, approvalByAnother: true };
  const said = { code: 'refused', detail: expect.stringContaining('another operator must approve') };
  const registration = newRegistration(inProduction([own]));
  const { clientId } = registration;
  await registerClient(strict, anna, { registration, firstSecret: undefined });
  const step = async (state: 'test' | 'approved', request: typeof anna) =>
    setApproval(strict, request, {
      ...{ clientId, state, note: '', expectedVersion: await versionOf(clientId), confirmedVolume: figures },
    });
  expect(await refusalOf(step('test', anna))).toMatchObject(said);
  expect(await refusalOf(step('test', dry))).toMatchObject(said);
  await step('test', bert);
  await edit({ ...registration, name: 'Another name' }, '', strict, bert);
  expect(await refusalOf(step('approved', bert))).toMatchObject(said);
  await step('approved', anna);
  await setActive(strict, anna, { clientId, active: true, expectedVersion: await versionOf(clientId) });
  const wider = { ...registration, scopes: ['openid', 'email', 'profile'] as const };
  for (const request of [anna, bert])
    expect(await refusalOf(edit(wider, 'Ticket 3', strict, request))).toMatchObject(said);
  await edit({ ...registration, scopes: ['openid'] }, '', strict, bert);
  expect(await getClient(strict, clientId)).toMatchObject({ active: true, approvalState: 'approved' });
});

test('where another operator must approve, a declared set approves what others have edited', async () => {
  const strict = { ...context, approvalByAnother: true };
  const registration = newRegistration();
  const declared = (over: object) =>
    declaredSet([{ registration, approvalState: 'test', active: undefined, ...over }]);
  expect((await refusalOf(applyClients(strict, anna, declared({})))).code).toBe('refused');
  await applyClients(strict, anna, declared({ approvalState: 'draft' }));
  const changed = { registration: { ...registration, name: 'Another name' } };
  expect((await refusalOf(applyClients(strict, bert, declared(changed)))).code).toBe('refused');
  await applyClients(strict, bert, declared({}));
  expect(await getClient(strict, registration.clientId)).toMatchObject({ approvalState: 'test' });
});

test.each([
  [{ users: 0, events: 0, designs: 0 }, '0 users, 0 events, 0 designs'],
  [{ users: 3, events: 4, designs: 0 }, '0 designs'],
  [figures, undefined],
])('an approval on the figures %o warns of %s', async (confirmedVolume, empty) => {
  const { clientId } = await tested();
  const { warnings } = (await approve(clientId, 'approved', production, confirmedVolume)).result;
  expect(warnings).toEqual(empty === undefined ? [] : [expect.stringContaining(`a catalog with ${empty}:`)]);
});
