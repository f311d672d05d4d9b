// Names of clients that people cannot tell apart or see, on the operator's side.
import { expect, test } from 'vitest';
import {
  anna,
  dry,
  newRegistration,
  refusalOf,
  useOperatorContext,
} from '../../../../test/stores/operator-context.ts';
import { editClient, getClient, listClients, registerClient } from './admin.ts';
import { applyClients, exportClients } from './apply.ts';

const { identity, context, register } = await useOperatorContext();

test('names that look alike are marked for both clients, also before one is registered', async () => {
  const known = newRegistration({ name: 'Paddock Planner' });
  await register(known);
  const registration = newRegistration({ name: 'Pаddосk Plаnnеr' });
  const warnings = [
    `The name looks like that of ${known.clientId}.`,
    'A word of the name mixes letters of several alphabets.',
  ];
  const planned = await registerClient(context, dry, { registration, firstSecret: undefined });
  expect(planned.result.client.warnings).toEqual(warnings);
  await register(registration);
  const byId = new Map(
    (await listClients(context, { active: undefined, approvalState: 'draft' })).map((client) => [
      client.registration.clientId,
      client.warnings,
    ]),
  );
  expect(byId.get(registration.clientId)).toEqual(warnings);
  expect(byId.get(known.clientId)).toEqual([`The name looks like that of ${registration.clientId}.`]);
  expect((await register()).result.client.warnings).toEqual([]);
});

test('a name from before that cannot be shown is marked, and stops no other change, exported or edited', async () => {
  const registration = newRegistration();
  const { clientId } = registration;
  await register(registration);
  await identity.sql('update clients set name = $2 where client_id = $1', [clientId, 'Stable\u200b Diary']);
  const client = await getClient(context, clientId);
  expect(client.warnings).toEqual(['The name has characters that cannot be seen: give another one.']);
  const set = { deactivateUndeclared: false, note: '', expectedVersions: new Map() };
  const declarations = (await exportClients(context)).filter((one) => one.registration.clientId === clientId);
  expect(await applyClients(context, dry, { ...set, declarations })).toContainEqual(
    expect.objectContaining({ clientId, action: 'unchanged' }),
  );
  const change = (over: object) => ({
    registration: { ...client.registration, ...over },
    expectedVersion: client.version,
    note: '',
  });
  expect((await refusalOf(editClient(context, anna, change({ name: 'Stable\u200b Diaries' })))).code).toBe(
    'invalid_argument',
  );
  expect(
    (await editClient(context, anna, change({ scopes: ['openid'] }))).result.registration.scopes,
  ).toEqual(['openid']);
});
