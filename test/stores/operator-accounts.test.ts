// What ends a user's grants: an operator who disables or signs out, an import of another password, a withdrawn consent
// (R13).
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { findConsents, withdrawConsent } from '../../services/identity/src/consents/admin.ts';
import type { Sub } from '../../services/identity/src/ids.ts';
import { disableUser, enableUser, getAccount, signOutUser } from '../../services/identity/src/users/admin.ts';
import { importUsers } from '../../services/identity/src/users/import.ts';
import {
  addConsent,
  addGrant,
  addPartner,
  addUser,
  issueCode,
  openEndpoint,
  outcomeOf,
  requestExchange,
  requestRefresh,
  useRedis,
} from './identity-grant.ts';
import { anna, dry, refusalOf, useAdminContext } from './operator-context.ts';

const { identity, context } = await useAdminContext();
const [redis] = await useRedis();

describe('a user', () => {
  async function grant() {
    const endpoint = await openEndpoint(identity, redis);
    const { partner, granted } = await addGrant(identity);
    const newCode = () => issueCode(redis, granted);
    const exchange = (code: string) => requestExchange(endpoint, partner, code);
    const give = async () => (await exchange(await newCode())).refreshToken;
    const refresh = (token: string) => outcomeOf(requestRefresh(endpoint, partner, token));
    return { partner, sub: granted.sub, newCode, exchange, give, refresh };
  }

  test('signed out loses codes and refresh tokens from before, and nothing after (R13)', async () => {
    const { sub, newCode, exchange, give, refresh } = await grant();
    const before = await give();
    const code = await newCode();
    await signOutUser(context, anna, { sub });
    expect(await refresh(before)).toBe('invalid_grant');
    expect(await outcomeOf(exchange(code))).toBe('invalid_grant');
    await sleep(5);
    expect(await refresh(await give())).toBe('tokens');
  });

  test('disabled loses them for good, also when enabled again', async () => {
    const { sub, give, refresh } = await grant();
    const before = await give();
    const { result } = await disableUser(context, anna, { sub });
    expect(result.disabledAt).not.toBeNull();
    expect((await disableUser(context, anna, { sub })).changes).toEqual([]);
    await enableUser(context, anna, { sub });
    expect(await refresh(before)).toBe('invalid_grant');
    expect(await getAccount(context, { sub })).toMatchObject({ disabledAt: null });
  });

  test('whose password an import replaces is signed out, unless sessions are to be kept', async () => {
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

  test('run dry is not disabled', async () => {
    const { sub, give, refresh } = await grant();
    expect((await disableUser(context, dry, { sub })).changes).toHaveLength(1);
    expect(await refresh(await give())).toBe('tokens');
  });

  test('whose consent is withdrawn keeps the one with another client; the list says so', async () => {
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
});

test('consents of a client come in pages without gap or repetition', async () => {
  const partner = await addPartner(identity);
  const subs = new Set<Sub>();
  for (let count = 0; count < 25; count += 1) {
    const sub = await addUser(identity);
    subs.add(sub);
    await addConsent(identity, sub, partner.clientId);
  }
  const seen: Sub[] = [];
  let after: { position: string; consentId: string } | undefined;
  for (;;) {
    const question = {
      user: undefined,
      clientId: partner.clientId,
      includeWithdrawn: false,
      limit: 10,
      after,
    };
    const page = await findConsents(context, question);
    seen.push(...page.map(({ sub }) => sub));
    after = page.at(-1);
    if (page.length < 10) break;
  }
  expect(seen).toHaveLength(25);
  expect(new Set(seen)).toEqual(subs);
});
