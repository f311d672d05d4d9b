// What ends a user's grants: an operator who disables or signs out, an import of another password, a withdrawn consent
// (R13.2, R13.3, R13.5).
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  addConsent,
  addPartner,
  addUser,
  openEndpoint,
  outcomeOf,
  useRedis,
} from '../../../../test/stores/identity-grant.ts';
import { anna, dry, refusalOf, useOperatorContext } from '../../../../test/stores/operator-context.ts';
import { findConsents, withdrawConsent } from '../consents/admin.ts';
import type { Sub } from '../ids.ts';
import { disableUser, enableUser, getAccount, getAccountByHash, signOutUser } from './admin.ts';
import { importUsers } from './import.ts';
import { everySub } from './user-table.ts';

const { identity, context } = await useOperatorContext();
const [redis] = await useRedis();

async function grant() {
  const { partner, granted, issue, exchange, ...endpoint } = await openEndpoint(identity, redis);
  const give = async () => (await exchange(await issue())).refreshToken;
  const refresh = (token: string) => outcomeOf(endpoint.refresh(token));
  return { partner, sub: granted.sub, issue, exchange, give, refresh };
}

const disableForAWhile: typeof signOutUser = async (...given) => {
  const disabled = await disableUser(...given);
  expect(disabled.result.disabledAt).not.toBeNull();
  expect((await disableUser(...given)).changes).toEqual([]);
  return enableUser(...given);
};

test.each([
  ['signed out', signOutUser],
  ['disabled, also when enabled again,', disableForAWhile],
])(
  'a user %s loses codes and refresh tokens from before, and nothing after [R13.2 R13.5]',
  async (_, end) => {
    const { sub, issue, exchange, give, refresh } = await grant();
    const [before, code] = [await give(), await issue()];
    await end(context, anna, { sub });
    expect(await refresh(before)).toBe('invalid_grant');
    expect(await outcomeOf(exchange(code))).toBe('invalid_grant');
    await sleep(5);
    expect(await refresh(await give())).toBe('tokens');
    expect(await getAccount(context, { sub })).toMatchObject({ disabledAt: null });
  },
);

test('a user whose password an import replaces is signed out, unless sessions are to be kept', async () => {
  const { sub, give, refresh } = await grant();
  const given = { line: 1, sub, email: `${sub}@example.org`, emailVerified: true, name: 'Ada' };
  const imported = (salt: string) => ({ ...given, passwordHash: `$2b$06$${salt.repeat(53)}` });
  const before = await give();
  expect(await importUsers(context, { ...anna, keepSessions: true }, [imported('e')])).toMatchObject({
    updated: 1,
    signedOut: 0,
  });
  const kept = await give();
  expect(await refresh(before)).toBe('tokens');
  expect(await importUsers(context, dry, [imported('u')])).toMatchObject({ updated: 1, signedOut: 1 });
  expect(await importUsers(context, anna, [imported('u')])).toMatchObject({ updated: 1, signedOut: 1 });
  expect(await refresh(kept)).toBe('invalid_grant');
  await sleep(5);
  const after = await give();
  expect(await importUsers(context, anna, [imported('u')])).toMatchObject({ unchanged: 1, signedOut: 0 });
  const renamed = { ...imported('u'), name: 'Ada Neu' };
  expect(await importUsers(context, anna, [renamed])).toMatchObject({ updated: 1, signedOut: 0 });
  expect(await refresh(after)).toBe('tokens');
});

test('a user whose disabling is run dry is not disabled', async () => {
  const { sub, give, refresh } = await grant();
  expect((await disableUser(context, dry, { sub })).changes).toHaveLength(1);
  expect(await refresh(await give())).toBe('tokens');
});

test('a user whose consent is withdrawn keeps the one with another client; the list says so', async () => {
  const { sub, give, refresh, partner } = await grant();
  const other = await addPartner(identity);
  await addConsent(identity, sub, other.clientId);
  const token = await give();
  await withdrawConsent(context, anna, { user: { sub }, clientId: partner.clientId });
  expect(await refresh(token)).toBe('invalid_grant');
  const question = { user: { sub }, clientId: undefined, includeWithdrawn: false, limit: 10 };
  expect((await findConsents(context, question)).map(({ clientId }) => clientId)).toEqual([other.clientId]);
  expect(await findConsents(context, { ...question, includeWithdrawn: true })).toHaveLength(2);
  const again = withdrawConsent(context, anna, { user: { sub }, clientId: partner.clientId });
  expect((await refusalOf(again)).code).toBe('not_found');
});

test('consents of a client come in pages without gap or repetition', async () => {
  const { clientId } = await addPartner(identity);
  const subs = await Promise.all(Array.from({ length: 25 }, () => addUser(identity)));
  for (const sub of subs) await addConsent(identity, sub, clientId);
  const question = { user: undefined, clientId, includeWithdrawn: false, limit: 10 };
  const seen: Sub[] = [];
  let page: Awaited<ReturnType<typeof findConsents>> = [];
  do {
    page = await findConsents(context, { ...question, after: page.at(-1) });
    seen.push(...page.map(({ sub }) => sub));
  } while (page.length === 10);
  expect(seen.toSorted()).toEqual(subs.toSorted());
});

test('the hash in a log line finds its user, whom pages of users hold without gap or repetition', async () => {
  const sub = await addUser(identity);
  await identity.sql(
    `insert into users (sub, email, password_hash)
     select 'page-' || at, 'page-' || at || '@example.org', '-' from generate_series(1, 2000) as at`,
  );
  const subs = await Array.fromAsync(everySub(context.database));
  const [users] = await identity.sql('select count(*)::int as count from users');
  expect([subs.length, new Set(subs).size]).toEqual([users?.count, users?.count]);
  for (const one of [sub, subs.at(-1)])
    expect(await getAccountByHash(context, `keyed-${one}`)).toMatchObject({ sub: one });
  expect((await refusalOf(getAccountByHash(context, 'unknown'))).code).toBe('not_found');
});
