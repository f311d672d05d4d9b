// What an edit adds to a client that is approved for production, and that such an edit approves its result.
import { expect, test } from 'vitest';
import {
  anna,
  bert,
  declaredSet,
  dry,
  inProduction,
  newRegistration,
  other,
  own,
  refusalOf,
  useProduction,
} from '../../../../test/stores/operator-context.ts';
import { editClient, getClient, registerClient } from './admin.ts';
import { applyClients } from './apply.ts';
import { setApproval } from './approval.ts';
import type { ClientRegistration } from './client-registration.ts';

const { context, production, approve, tested, approved, edit, entriesOf } = await useProduction();

type Edited = (registration: ClientRegistration) => Partial<ClientRegistration>;

test.each<[string, Edited, string]>([
  ['a redirect URI', () => inProduction([own, other]), `the redirect URI ${other}`],
  ['another redirect URI in its place', () => inProduction([other]), `the redirect URI ${other}`],
  ['one in other letter case', () => inProduction([own.toUpperCase().replace('HTTPS', 'https')]), 'PARTNER'],
  ['a scope', () => ({ scopes: ['openid', 'email', 'profile'] }), 'the scope profile'],
])('to an approved client an edit in production adds %s only with a reason', async (_what, change, said) => {
  const registration = await approved();
  const { clientId } = registration;
  const changed = { ...registration, ...change(registration) };
  const before = await getClient(production, clientId);
  const declared = { registration: changed, approvalState: undefined, active: undefined };
  for (const refused of [
    () => edit(changed),
    () => edit(changed, '  '),
    () => editClient(production, dry, { registration: changed, expectedVersion: before.version, note: '' }),
    () => applyClients(production, anna, declaredSet([declared])),
    () => applyClients(production, dry, declaredSet([declared])),
  ]) {
    const { code, detail } = await refusalOf(refused());
    expect({ code, detail }).toEqual({ code: 'refused', detail: expect.stringContaining(said) });
    expect(detail).toContain('--note');
  }
  expect(await getClient(production, clientId)).toEqual(before);
  await edit(changed, 'Ticket 9', production, bert);
  const after = await getClient(production, clientId);
  expect(after).toMatchObject({ version: before.version + 1, approvalState: 'approved' });
  expect(after.approvals.at(-1)).toMatchObject({ state: 'approved', by: 'local:bert', note: 'Ticket 9' });
  expect((await entriesOf(clientId)).slice(0, 2)).toEqual([
    { actor: 'local:bert', action: 'client.approval', version: `${after.version}`, note: '"Ticket 9"' },
    expect.objectContaining({ actor: 'local:bert', action: 'client.edit', note: '"Ticket 9"' }),
  ]);
});

test.each(['x'.repeat(501), '\u200b', 'Ticket \u202e9', '\u3164', 'a\0b'])(
  '%j is no note of an edit, an approval or a declared set',
  async (note) => {
    const registration = { ...(await approved()), name: 'Another name' };
    const { clientId } = registration;
    const declared = { registration, approvalState: undefined, active: undefined };
    for (const refused of [
      () => edit(registration, note),
      () => setApproval(production, anna, { clientId, state: 'test', note, expectedVersion: 0 }),
      () => applyClients(production, anna, declaredSet([declared], note)),
    ])
      expect(await refusalOf(refused())).toMatchObject({ code: 'invalid_argument' });
    await edit(registration, 'Zeile 1,\nстрока 2: 馬術\tça 🐎');
  },
);

test.each<[string, Edited]>([
  ['a redirect URI is removed', () => inProduction([own])],
  ['a scope is removed', () => ({ scopes: ['openid'] })],
  ['what is registered is named in another order', () => inProduction([other, own])],
  ['a name, contact or text changes', ({ name }) => ({ name: `${name} 2`, userJourney: 'Another one.' })],
  [
    'a redirect URI of the test environment is added',
    () => ({ redirectUris: { test: ['http://localhost:1/cb'], production: [own, other] } }),
  ],
])('an approved client stays approved, without a reason, when %s', async (_what, change) => {
  const registration = { ...(await approved()), ...inProduction([own, other]) };
  await edit(registration, 'Ticket 1');
  const approvals = (await getClient(production, registration.clientId)).approvals.length;
  await edit({ ...registration, ...change(registration) });
  const { approvalState, approvals: after } = await getClient(production, registration.clientId);
  expect([approvalState, after.length]).toEqual(['approved', approvals]);
});

test('a declared set adds to approved clients with one reason for all of them', async () => {
  const registrations = [await approved(), await approved(), await tested()];
  const declarations = registrations.map((one) => ({
    registration: { ...one, ...inProduction([own, other]) },
    ...{ approvalState: undefined, active: undefined },
  }));
  await applyClients(production, bert, declaredSet(declarations, 'Ticket 12'));
  for (const [nth, { clientId }] of registrations.entries()) {
    const [last] = await entriesOf(clientId);
    const action = nth < 2 ? 'client.approval' : 'client.edit';
    expect(last).toMatchObject({ actor: 'local:bert', action, note: '"Ticket 12"' });
  }
});

test('outside production, or before it is approved, a client gains what an edit adds', async () => {
  const draft = await tested();
  await edit({ ...draft, ...inProduction([own, other]) });
  const registration = newRegistration();
  const { clientId } = registration;
  await registerClient(context, anna, { registration, firstSecret: undefined });
  for (const state of ['test', 'approved'] as const) await approve(clientId, state);
  await edit({ ...registration, scopes: ['openid', 'profile'] }, '', context);
  expect((await getClient(context, clientId)).registration.scopes).toContain('profile');
});
