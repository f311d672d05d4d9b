// The restore fence: both stores go back to a copy, and nothing that had ended since comes to life (R10.1, R11.2, R13.4).
import { randomBytes } from 'node:crypto';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  addConsent,
  addGrant,
  addSecret,
  addUser,
  type Endpoint,
  openEndpoint,
  outcomeOf,
  useRedis,
} from '../../../../test/stores/identity-grant.ts';
import { anna, dry, openOperatorContext, refusalOf } from '../../../../test/stores/operator-context.ts';
import { type IdentityDatabase, openIdentityDatabase } from '../../../../test/stores/postgres.ts';
import { serverOf } from '../../../../test/stores/redis-servers.ts';
import { setActive } from '../clients/admin.ts';
import { resumeSecret, retireSecret } from '../clients/secret-admin.ts';
import { withdrawConsent } from '../consents/admin.ts';
import type { ClientId, Sub } from '../ids.ts';
import { activateKey, retireKey, rotateKeys } from '../keys/admin.ts';
import type { OperatorContext } from '../operator-port.ts';
import { disableUser, enableUser, signOutUser } from '../users/admin.ts';
import { type AuditedTransaction, endingsOf } from './audit-trail.ts';
import { putUpFence, type Restore } from './fence.ts';

const [redis] = await useRedis();
const tables = 'users clients client_approvals client_secrets consents signing_keys audit_log'.split(' ');

const logged = { isProven: false };
let identity: IdentityDatabase;
let context: OperatorContext;
let endpoint: Endpoint;
let clientId: ClientId;
let sub: Sub;
let trail: AuditedTransaction[];

beforeEach(async () => {
  identity = await openIdentityDatabase();
  onTestFinished(identity.close);
  trail = [];
  context = openOperatorContext(identity, {
    onAudited: (head, _actor, changes) =>
      void trail.push({ ...head, ...logged, at: Date.now(), endings: endingsOf(changes, context.keyedUser) }),
  });
  endpoint = await openEndpoint(identity, redis);
  ({ clientId, sub } = endpoint.granted);
});

/** Copies every table; gives what brings the copy back. */
async function backUpPostgres(): Promise<() => Promise<void>> {
  for (const table of tables) await identity.sql(`create table backup_${table} as table ${table}`);
  const back = tables.map(
    (table) => `delete from ${table}; insert into ${table} overriding system value table backup_${table};`,
  );
  return async () => {
    await identity.sql(`do $$ begin set local session_replication_role = replica; ${back.join(' ')} end $$`);
  };
}

/** Copies what Redis knows of the family of a token or code. */
async function backUpRedis(token: string): Promise<() => Promise<void>> {
  const server = serverOf(redis);
  const names = await server.keys(`*${token.slice(0, 22)}*`);
  expect(names).not.toEqual([]);
  const copies = await Promise.all(names.map(async (name) => [name, await server.dumpBuffer(name)] as const));
  return async () => {
    for (const [name, copy] of copies) if (copy) await server.restore(name, 60_000, copy, 'REPLACE');
  };
}

const refresh = (token: string) => outcomeOf(endpoint.refresh(token));
const newFamily = async () => (await endpoint.exchange(await endpoint.issue())).refreshToken ?? '';
const fence = (over: Partial<Restore>, request = anna) =>
  putUpFence(context, request, { store: 'postgres', trail, acceptUnknown: false, ...over });
const endedAgain = async (over: Partial<Restore>, request = anna) =>
  (await fence(over, request)).result.endedAgain.toSorted();
const disabled = (...subs: readonly string[]) => subs.map((sub) => `user.disable user:${sub}`).toSorted();
const secretId = async (clientId: string) =>
  String(
    (await identity.sql('select secret_id from client_secrets where client_id = $1', [clientId]))[0]
      ?.secret_id,
  );
const rowsOf = async (table: string, condition: string) =>
  Number((await identity.sql(`select count(*)::int as count from ${table} where ${condition}`))[0]?.count);

test('what was spent stays spent after a restore of Redis; consents, secrets and keys are as they were', async () => {
  const token = await newFamily();
  const code = await endpoint.issue();
  const [restoreToken, restoreCode] = [await backUpRedis(token), await backUpRedis(code)];
  expect(await refresh(token)).toBe('tokens');
  await endpoint.exchange(code);
  await restoreToken();
  await restoreCode();
  const { result } = await fence({ store: 'redis', trail: undefined });
  expect(result).toMatchObject({ usersSignedOut: 1, consentsWithdrawn: 0, unknownSecrets: [] });
  expect(await refresh(token)).toBe('invalid_grant');
  expect(await outcomeOf(endpoint.exchange(code))).toBe('invalid_grant');
  expect(await rowsOf('consents', 'withdrawn_at is null')).toBe(1);
  expect(await rowsOf('signing_keys', "state = 'active'")).toBe(2);
  expect(await refresh(await newFamily())).toBe('tokens');
});

test('what ended since the backup of Postgres ends again after its restore, by the log', async () => {
  await rotateKeys(context, anna, { algorithms: [], continueOnly: false, olderThan: 0 });
  const keys = () => identity.sql("select kid, state from signing_keys where state <> 'retired'");
  const staged = (await keys()).find(({ state }) => state === 'staged');
  await activateKey(context, anna, { kid: String(staged?.kid), emergency: true });
  const second = await addGrant(identity);
  const back = await addUser(identity);
  const [old, kept] = [await secretId(clientId), await secretId(second.partner.clientId)];
  await addSecret(identity, clientId, 'its successor');
  const restore = await backUpPostgres();
  await withdrawConsent(context, anna, { user: { sub }, clientId });
  await retireSecret(context, anna, { clientId, secretId: old, evenIfInUse: true });
  await setActive(context, anna, { clientId: second.partner.clientId, active: false, expectedVersion: 0 });
  for (const sub of [second.granted.sub, back]) await disableUser(context, anna, { sub });
  await enableUser(context, anna, { sub: back });
  for (const active of [false, true])
    await setActive(context, anna, { clientId, active, expectedVersion: 0 });
  const before = await keys();
  for (const { kid, state } of before)
    if (state !== 'active') await retireKey(context, anna, { kid: String(kid), emergency: true });
  await restore();
  expect(await refresh(await newFamily())).toBe('tokens');
  const token = await newFamily();
  const planned = await fence({}, dry);
  expect(await refresh(token)).toBe('tokens');
  const { result } = await fence({});
  expect(result).toEqual(planned.result);
  expect(result.endedAgain.toSorted()).toEqual(
    [
      `secret.retire secret:${old}`,
      `client.deactivate client:${second.partner.clientId}`,
      `key.retire key:${before.find(({ state }) => state === 'superseded')?.kid}`,
      `user.disable user:${second.granted.sub}`,
    ].toSorted(),
  );
  expect([result.consentsWithdrawn, result.unknownSecrets]).toEqual([2, []]);
  expect(await rowsOf('client_secrets', `secret_id = '${kept}' and retired_at is null`)).toBe(1);
  expect(await rowsOf('users', 'disabled_at is not null')).toBe(1);
  expect(await rowsOf('consents', 'withdrawn_at is null')).toBe(0);
  // Their private halves may be known to an attacker: that is why an operator retired them.
  for (const { kid, state } of before) {
    const after = state === 'active' ? 'superseded' : 'retired';
    expect(await rowsOf('signing_keys', `kid = '${kid}' and state = '${after}'`)).toBe(1);
  }
  expect(await rowsOf('signing_keys', "state = 'active'")).toBe(2);
  expect(await rowsOf('audit_log', "action = 'restore.fence' and actor = 'local:anna'")).toBe(1);
});

test('every secret is suspended without the log until it is resumed, and no key from before verifies', async () => {
  const id = await secretId(clientId);
  const { result } = await fence({ trail: undefined });
  expect(result.unknownSecrets).toMatchObject([{ clientId, secretId: id }]);
  const consentId = await addConsent(identity, sub, clientId);
  const family = () => endpoint.issue({ consentId });
  expect(await outcomeOf(endpoint.exchange(await family()))).toBe('invalid_client');
  await resumeSecret(context, anna, { clientId, secretId: id });
  await endpoint.deps.tokens.keys.refresh();
  expect(await outcomeOf(endpoint.exchange(await family()))).toBe('tokens');
  expect(await rowsOf('signing_keys', "state in ('staged', 'superseded')")).toBe(0);
});

test('secrets that a fence without the log suspended stay so after a second restore', async () => {
  const second = await addGrant(identity);
  const [id, good] = [await secretId(clientId), await secretId(second.partner.clientId)];
  const restore = await backUpPostgres();
  await fence({ trail: undefined });
  await resumeSecret(context, anna, { clientId: second.partner.clientId, secretId: good });
  await restore();
  expect((await fence({})).result.endedAgain).toContain(`secret.suspend secret:${id}`);
  const suspended = await identity.sql('select secret_id from client_secrets where suspended_at is not null');
  expect(suspended).toEqual([{ secret_id: id }]);
});

test('an operator who accepts the gap has its objects listed and opened', async () => {
  const { result } = await fence({ trail: undefined, acceptUnknown: true });
  expect(result.unknownSecrets).toMatchObject([{ secretId: await secretId(clientId) }]);
  expect(await rowsOf('client_secrets', 'suspended_at is not null')).toBe(0);
  expect(await rowsOf('signing_keys', "state = 'superseded'")).toBe(2);
});

test('lines that do not follow the restored log are refused, and nothing is done', async () => {
  for (const change of [disableUser, enableUser]) await change(context, anna, { sub });
  const restore = await backUpPostgres();
  for (const change of [disableUser, enableUser, disableUser]) await change(context, anna, { sub });
  await restore();
  const [first, second, third, , fifth] = trail as [AuditedTransaction, ...AuditedTransaction[]];
  const foreign = { ...third, previous: randomBytes(32).toString('hex') };
  for (const lines of [[first], [fifth], [second, third, fifth], [foreign]])
    expect((await refusalOf(fence({ trail: lines as AuditedTransaction[] }))).code).toBe('refused');
  expect(await rowsOf('audit_log', "action = 'restore.fence'")).toBe(0);
  expect(await endedAgain({})).toEqual(disabled(sub));
});

test('changes between the restore and the fence hide nothing that had ended, nor does the fence undo them', async () => {
  const [other, third] = [await addUser(identity), await addUser(identity)];
  for (const change of [enableUser, disableUser]) await change(context, anna, { sub: third });
  const restore = await backUpPostgres();
  for (const who of [sub, other]) await disableUser(context, anna, { sub: who });
  const saved = [...trail];
  await restore();
  await enableUser(context, anna, { sub: third });
  // The lost lines are missing, or their first is, or the file begins after the backup.
  for (const lines of [saved.slice(0, 1), saved.toSpliced(1, 1), trail.slice(2)])
    expect((await refusalOf(fence({ trail: lines }))).code).toBe('refused');
  expect(await endedAgain({ trail: saved }, dry)).toEqual(disabled(sub, other));
  expect(await endedAgain({})).toEqual(disabled(sub, other));
  await enableUser(context, anna, { sub });
  expect(await endedAgain({ trail: saved })).toEqual([]);
});

test('a secret that was retired after the backup is retired again, also where it was resumed', async () => {
  const id = await secretId(clientId);
  await signOutUser(context, anna, { sub });
  const restore = await backUpPostgres();
  await retireSecret(context, anna, { clientId, secretId: id, evenIfInUse: true });
  await restore();
  await fence({ trail: undefined });
  await resumeSecret(context, anna, { clientId, secretId: id });
  expect(await endedAgain({})).toEqual([`secret.retire secret:${id}`]);
});

test('a second restore of one backup follows both logs that came of it', async () => {
  const other = await addUser(identity);
  const restore = await backUpPostgres();
  await disableUser(context, anna, { sub });
  await restore();
  await fence({});
  await disableUser(context, anna, { sub: other });
  await restore();
  expect(await endedAgain({})).toEqual(disabled(sub, other));
});

test('ends what every user has, over more users than one statement takes', async () => {
  const many = 12_000;
  await identity.sql(`insert into users (sub, email, password_hash)
    select md5(n::text), n || '@example.com', '' from generate_series(1, ${many}) as n`);
  await identity.sql(
    `insert into consents (consent_id, sub, client_id, scopes, withdrawn_at)
    select md5('c' || n), md5(n::text), $1, '{openid}', case when n % 2 = 0 then now() end
    from generate_series(1, ${many}) as n`,
    [clientId],
  );
  const { result } = await fence({ trail: undefined, acceptUnknown: true });
  expect(result).toMatchObject({ usersSignedOut: many + 1, consentsWithdrawn: many / 2 + 1 });
  expect(await rowsOf('users', 'signed_out_at is null')).toBe(0);
  expect(await rowsOf('consents', 'withdrawn_at is null')).toBe(0);
});
