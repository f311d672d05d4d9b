// Clients and their secrets on the operator's side: registration, edits that meet, declared sets; secrets that overlap until
// the old one is retired.
import { createLogger } from '@course-exchange/runtime/process/logger';
import { expect, test } from 'vitest';
import {
  anna,
  declaredSet,
  dry,
  newRegistration,
  refusalOf,
  useOperatorContext,
} from '../../../../test/stores/operator-context.ts';
import { authenticateClient } from '../token/client-authentication.ts';
import { loadGrantStatus } from '../token/grant-status-table.ts';
import { editClient, getClient, registerClient } from './admin.ts';
import { applyClients, exportClients } from './apply.ts';
import { addSecret, listSecrets, retireSecret } from './secret-admin.ts';
import { createSecretUse } from './secret-table.ts';

const { identity, context, register, activeClient } = await useOperatorContext();
const audited = async () => Number((await identity.sql('select count(*) from audit_log'))[0]?.count);

test('a client id with a NUL is refused: no text in Postgres holds one', async () => {
  const refusal = await refusalOf(getClient(context, 'no\0body'));
  expect([refusal.code, refusal.detail]).toEqual(['invalid_argument', 'A text holds a NUL.']);
});

/** `count` of the calls at once succeed, the others are refused with `code`. */
async function expectWinners(calls: readonly Promise<unknown>[], count: number, code: string) {
  const all = await Promise.allSettled(calls);
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(count);
  for (const one of all) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code });
}

test('one of twenty registrations of one client id at once succeeds', async () => {
  const registration = newRegistration();
  await expectWinners(
    Array.from({ length: 20 }, () => register(registration)),
    1,
    'already_exists',
  );
});

test('one of ten edits of one version succeeds, the others are conflicts', async () => {
  const registration = newRegistration();
  await register(registration);
  const edits = Array.from({ length: 10 }, (_, index) =>
    editClient(context, anna, {
      registration: { ...registration, name: `Name ${index}` },
      expectedVersion: 1,
      note: '',
    }),
  );
  await expectWinners(edits, 1, 'conflict');
  expect((await getClient(context, registration.clientId)).version).toBe(2);
});

test('a declared set is planned, applied as planned, and then unchanged', async () => {
  const registration = newRegistration();
  const set = declaredSet([{ registration, approvalState: 'approved', active: true }]);
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
  expect((await applyClients(context, anna, set)).flatMap(({ changes }) => changes)).toEqual([]);
});

test('a declared set is all or nothing, and refused when somebody changed a client after the plan', async () => {
  const [good, bad] = [newRegistration(), newRegistration({ userJourney: '' })];
  const set = declaredSet([
    { registration: good, approvalState: undefined, active: undefined },
    { registration: bad, approvalState: 'approved', active: undefined },
  ]);
  expect((await refusalOf(applyClients(context, anna, set))).code).toBe('refused');
  expect((await refusalOf(getClient(context, good.clientId))).code).toBe('not_found');
  await register(good);
  const stale = { ...declaredSet([]), expectedVersions: new Map([[good.clientId as string, 0]]) };
  expect((await refusalOf(applyClients(context, anna, stale))).code).toBe('conflict');
});

test('a declared set may deactivate clients that it does not name, and deletes none', async () => {
  const { clientId: left } = await activeClient();
  const declarations = (await exportClients(context)).filter(
    ({ registration }) => registration.clientId !== left,
  );
  const plan = await applyClients(context, dry, declaredSet(declarations));
  expect(plan.find(({ clientId }) => clientId === left)?.action).toBe('undeclared');
  await applyClients(context, anna, { ...declaredSet(declarations), deactivateUndeclared: true });
  expect(await getClient(context, left)).toMatchObject({ active: false });
});

const quiet = createLogger('test', 'error', () => {});
const clientStatus = async (clientId: string) =>
  (await loadGrantStatus(identity.database, clientId, null)).client;
const invalidClient = expect.objectContaining({ code: 'invalid_client' });

type Given = { readonly secretId: string } | undefined;
const retirementOf = (clientId: string, secret: Given) => (evenIfInUse: boolean) =>
  retireSecret(context, anna, { clientId, secretId: secret?.secretId ?? '', evenIfInUse });
const usedBefore = (interval: string, secret: Given) =>
  identity.sql('update client_secrets set last_used_at = now() - $2::interval where secret_id = $1', [
    secret?.secretId,
    interval,
  ]);

test('secrets overlap until the old one is retired, which its last use allows', async () => {
  const { clientId, secret: old } = await activeClient();
  const retire = retirementOf(clientId, old);
  expect((await refusalOf(retire(false))).code).toBe('refused');
  const added = (await addSecret(context, anna, { clientId, expiresIn: 7 * 86_400_000 })).result;
  const use = createSecretUse({ database: identity.database, now: Date.now, logger: quiet });
  for (const plain of [old?.plain, added.plain])
    use(clientId, authenticateClient(await clientStatus(clientId), plain ?? '').secretHash);
  const used = async () =>
    (await listSecrets(context, clientId)).every(({ lastUsedAt }) => lastUsedAt !== null);
  await expect.poll(used).toBe(true);
  const inUse = await refusalOf(retire(false));
  expect(inUse.code).toBe('refused_until');
  expect((inUse.possibleAt ?? 0) - Date.now()).toBeGreaterThan(23 * 3_600_000);
  await usedBefore('25 hours', old);
  await retire(false);
  const status = await clientStatus(clientId);
  expect(() => authenticateClient(status, old?.plain ?? '')).toThrow(invalidClient);
  expect(authenticateClient(status, added.plain ?? '').client.clientId).toBe(clientId);
  const warning = expect.stringContaining(`Secret ${added.secretId} expires at`);
  expect((await getClient(context, clientId)).warnings).toEqual([warning]);
});

test('a secret stays while its partner has used no other one, however long it was quiet', async () => {
  const { clientId, secret: old } = await activeClient();
  await addSecret(context, anna, { clientId, expiresIn: 7 * 86_400_000 });
  await usedBefore('8 days', old);
  expect((await refusalOf(retirementOf(clientId, old)(false))).code).toBe('refused');
});

test('a secret that others know is retired at once, also the last one', async () => {
  const { clientId, secret } = await activeClient();
  const retire = retirementOf(clientId, secret);
  expect((await retire(true)).result.retiredAt).not.toBeNull();
  expect((await retire(true)).changes).toEqual([]);
  expect((await getClient(context, clientId)).warnings).toEqual([
    'The client is active without a valid secret.',
  ]);
});

test('there are ten secrets at most, also when twenty are added at once', async () => {
  const { clientId } = (await register()).result.client.registration;
  const adding = Array.from({ length: 20 }, () => addSecret(context, anna, { clientId, expiresIn: null }));
  await expectWinners(adding, 9, 'refused');
});

test('a dry run gives out no secret and keeps none; a secret lasts for a minute at least', async () => {
  const { clientId } = (await register()).result.client.registration;
  const { result } = await addSecret(context, dry, { clientId, expiresIn: 60_000 });
  expect(result.plain).toBeUndefined();
  expect(await listSecrets(context, clientId)).toHaveLength(1);
  const short = addSecret(context, anna, { clientId, expiresIn: 59_999 });
  expect((await refusalOf(short)).code).toBe('invalid_argument');
  const registration = newRegistration();
  const planned = await registerClient(context, dry, { registration, firstSecret: { expiresIn: null } });
  expect(planned.result.secret?.plain).toBeUndefined();
  expect((await refusalOf(getClient(context, registration.clientId))).code).toBe('not_found');
});
