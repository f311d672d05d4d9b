// Users on the operator's side: imports that may be repeated, passwords of other systems, and users shut out; and
// consents withdrawn (R13, R18).
import { pbkdf2Sync, randomBytes, scryptSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sub } from '../../services/identity/src/domain/ids.ts';
import { findConsents, withdrawConsent } from '../../services/identity/src/operator/consents/consents.ts';
import type { Desk } from '../../services/identity/src/operator/desk.ts';
import {
  disableUser,
  enableUser,
  getAccount,
  signOutUser,
} from '../../services/identity/src/operator/users/accounts.ts';
import type { ImportRecord } from '../../services/identity/src/operator/users/import-record.ts';
import { importUsers } from '../../services/identity/src/operator/users/import-users.ts';
import { createHashingQueue } from '../../services/identity/src/passwords/hashing-queue.ts';
import { createPasswordVerifier, isForeign } from '../../services/identity/src/passwords/password-hash.ts';
import { renewPasswordHash } from '../../services/identity/src/passwords/password-renewal.ts';
import { findUserByEmail } from '../../services/identity/src/store/postgres/users.ts';
import type { ReplicatedStore } from '../../services/identity/src/store/redis/replication.ts';
import {
  addConsent,
  addPartner,
  addUser,
  issueCode,
  openEndpoint,
  outcomeOf,
  requestExchange,
  requestRefresh,
} from './identity-grant.ts';
import { type IdentityDatabase, openIdentityDatabase, openRedis } from './identity-stores.ts';
import { anna, dry, openDesk, refusalOf } from './operator-desk.ts';

let identity: IdentityDatabase;
let desk: Desk;
let redis: ReplicatedStore;

beforeAll(async () => {
  identity = await openIdentityDatabase();
  desk = openDesk(identity);
  [redis] = (await openRedis()) as [ReplicatedStore];
});
afterAll(async () => {
  await redis.close();
  await identity.close();
});

const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
const salt = randomBytes(16);
const password = 'Hindernis 7 – Oxer';
const hashes: Readonly<Record<string, string>> = {
  argon2id:
    '$argon2id$v=19$m=8192,t=1,p=1$tABuvwMtIlcyFoS03nzGqg$ORj4cEL8COcOfbZbKUz97YLso2luJigXeZ5t9J0p0mM',
  bcrypt: '$2b$06$8fn4dxxFU/gRJaDslJ3WmuFRIZm9LDt9QUfHovhR8uMy76HLXKZ9a',
  'bcrypt of PHP': '$2y$06$8fn4dxxFU/gRJaDslJ3WmuFRIZm9LDt9QUfHovhR8uMy76HLXKZ9a',
  scrypt: `$scrypt$ln=14,r=8,p=1$${base64(salt)}$${base64(scryptSync(password, salt, 32, { cost: 2 ** 14 }))}`,
  'pbkdf2-sha256': `$pbkdf2-sha256$i=20000$${base64(salt)}$${base64(pbkdf2Sync(password, salt, 20_000, 32, 'sha256'))}`,
  'pbkdf2-sha512': `$pbkdf2-sha512$20000$${base64(salt).replaceAll('+', '.')}$${base64(pbkdf2Sync(password, salt, 20_000, 64, 'sha512')).replaceAll('+', '.')}`,
};

let line = 0;
function record(over: Partial<ImportRecord> = {}): ImportRecord {
  line += 1;
  return {
    line,
    sub: `imported-${line}`,
    email: `rider${line}@example.org`,
    emailVerified: true,
    name: `Rider ${line}`,
    passwordHash: `$2b$06$${'a'.repeat(53)}`,
    ...over,
  };
}

describe('an import', () => {
  test('sent again changes nothing, and what changed is updated', async () => {
    const records = Array.from({ length: 1_000 }, () => record());
    expect(await importUsers(desk, dry, records)).toMatchObject({ created: 1_000 });
    expect(await importUsers(desk, anna, records)).toMatchObject({ created: 1_000, rejected: [] });
    expect(await importUsers(desk, anna, records)).toMatchObject({ unchanged: 1_000 });
    const changed = records.map((one, index) => (index < 3 ? { ...one, name: 'Renamed' } : one));
    expect(await importUsers(desk, anna, changed)).toMatchObject({ updated: 3, unchanged: 997 });
  });

  test('keeps the sub of whom it knows by e-mail, and makes a random one for somebody new (R19)', async () => {
    const one = record({ sub: '', email: 'Nova@Example.org' });
    await importUsers(desk, anna, [one]);
    const { sub } = await getAccount(desk, { email: 'nova@example.org' });
    expect(sub).toMatch(/^[A-Za-z0-9_-]{22}$/);
    await importUsers(desk, anna, [{ ...one, name: 'Nova Neu' }]);
    expect(await getAccount(desk, { sub })).toMatchObject({ sub, name: 'Nova Neu' });
  });

  test('leaves out what is wrong, with line and reason, and takes the rest', async () => {
    const known = record();
    await importUsers(desk, anna, [known]);
    const good = record();
    const batch = [
      record({ email: 'no address' }),
      record({ sub: 'with@sign' }),
      record({ passwordHash: '5f4dcc3b5aa765d61d8327deb882cf99' }),
      record({ passwordHash: `$2b$31$${'a'.repeat(53)}` }),
      record({ email: known.email.toUpperCase() }),
      good,
      record({ email: good.email }),
    ];
    const { created, rejected } = await importUsers(desk, anna, batch);
    expect(created).toBe(1);
    expect(rejected.map((one) => one.line)).toEqual(
      batch.filter((one) => one !== good).map((one) => one.line),
    );
    expect(rejected.map(({ reason }) => reason).join(' ')).not.toContain('@');
  });

  test('of ten imports of the same users at once brings each user once', async () => {
    const records = Array.from({ length: 50 }, () => record({ sub: '' }));
    const all = await Promise.allSettled(Array.from({ length: 10 }, () => importUsers(desk, anna, records)));
    for (const one of all)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'conflict' });
    expect(await importUsers(desk, anna, records)).toMatchObject({ unchanged: 50 });
    const rows = await identity.sql('select count(*) from users where email = any($1)', [
      records.map(({ email }) => email),
    ]);
    expect(Number(rows[0]?.count)).toBe(50);
  });
});

test('a password of another system opens, becomes ours at the next login, and stays when the import is repeated (R18)', async () => {
  const queue = createHashingQueue({ concurrency: 4, waiting: 100 });
  const verify = await createPasswordVerifier(queue, () => 'nobody knows');
  for (const passwordHash of Object.values(hashes)) {
    const one = record({ passwordHash });
    await importUsers(desk, anna, [one]);
    const user = await findUserByEmail(identity.database, one.email);
    if (!user) throw new Error('not imported');
    expect([passwordHash, await verify(user.passwordHash, password)]).toEqual([passwordHash, true]);
    expect(await verify(user.passwordHash, `${password} `)).toBe(false);
    await renewPasswordHash(identity.database, queue, user, password);
    const renewed = await findUserByEmail(identity.database, one.email);
    expect(isForeign(renewed?.passwordHash ?? '')).toBe(false);
    expect(await verify(renewed?.passwordHash, password)).toBe(true);
    expect(await importUsers(desk, anna, [one])).toMatchObject({ unchanged: 1 });
    expect((await findUserByEmail(identity.database, one.email))?.passwordHash).toBe(renewed?.passwordHash);
  }
});

test('a wrong password takes as long whether the hash is ours, of another system, or of nobody (R18)', async () => {
  const queue = createHashingQueue({ concurrency: 4, waiting: 100 });
  const verify = await createPasswordVerifier(queue, () => 'nobody knows', {
    now: () => performance.now(),
    sleep: desk.sleep,
  });
  const slow = '$2b$12$zCDcHwtxz48M6fQ2S9vIzuKPeO7CVi5RHJ3pvhXG5qrCfYKIQenSa';
  const time = async (passwordHash: string | undefined) => {
    const begun = performance.now();
    expect(await verify(passwordHash, 'wrong')).toBe(false);
    return performance.now() - begun;
  };
  await time(slow);
  const foreign = Math.min(await time(slow), await time(slow), await time(slow));
  const nobody = Math.min(await time(undefined), await time(undefined), await time(undefined));
  expect(nobody).toBeGreaterThan(foreign * 0.6);
});

describe('a user', () => {
  async function grant() {
    const endpoint = await openEndpoint(identity, redis);
    const partner = await addPartner(identity);
    const sub = await addUser(identity);
    const consentId = await addConsent(identity, sub, partner.clientId);
    const give = async () =>
      (
        await requestExchange(
          endpoint,
          partner,
          await issueCode(redis, { clientId: partner.clientId, sub, consentId }),
        )
      ).refreshToken;
    const refresh = (token: string) => outcomeOf(requestRefresh(endpoint, partner, token));
    return { endpoint, partner, sub, consentId, give, refresh };
  }

  test('signed out loses codes and refresh tokens from before, and nothing after (R13)', async () => {
    const { sub, give, refresh, endpoint, partner, consentId } = await grant();
    const before = await give();
    const code = await issueCode(redis, { clientId: partner.clientId, sub, consentId });
    await signOutUser(desk, anna, { sub });
    expect(await refresh(before)).toBe('invalid_grant');
    expect(await outcomeOf(requestExchange(endpoint, partner, code))).toBe('invalid_grant');
    await desk.sleep(5);
    expect(await refresh(await give())).toBe('tokens');
  });

  test('disabled loses them for good, also when enabled again', async () => {
    const { sub, give, refresh } = await grant();
    const before = await give();
    const { result } = await disableUser(desk, anna, { sub });
    expect(result.disabledAt).not.toBeNull();
    expect((await disableUser(desk, anna, { sub })).changes).toEqual([]);
    await enableUser(desk, anna, { sub });
    expect(await refresh(before)).toBe('invalid_grant');
    expect(await getAccount(desk, { sub })).toMatchObject({ disabledAt: null });
  });

  test('run dry is not disabled', async () => {
    const { sub, give, refresh } = await grant();
    expect((await disableUser(desk, dry, { sub })).changes).toHaveLength(1);
    expect(await refresh(await give())).toBe('tokens');
  });

  test('whose consent is withdrawn keeps the one with another client; the list says so', async () => {
    const { sub, give, refresh, partner } = await grant();
    const other = await addPartner(identity);
    await addConsent(identity, sub, other.clientId);
    const token = await give();
    await withdrawConsent(desk, anna, { user: { sub }, clientId: partner.clientId });
    expect(await refresh(token)).toBe('invalid_grant');
    const question = { user: { sub }, clientId: undefined, includeWithdrawn: false, limit: 10 };
    expect((await findConsents(desk, question)).map(({ clientId }) => clientId)).toEqual([other.clientId]);
    expect(await findConsents(desk, { ...question, includeWithdrawn: true })).toHaveLength(2);
    const again = withdrawConsent(desk, anna, { user: { sub }, clientId: partner.clientId });
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
    const page = await findConsents(desk, question);
    seen.push(...page.map(({ sub }) => sub));
    after = page.at(-1);
    if (page.length < 10) break;
  }
  expect(seen).toHaveLength(25);
  expect(new Set(seen)).toEqual(subs);
});

test('no e-mail, name or password hash of a user is in the audit log', async () => {
  const one = record({ name: 'Kanarienvogel', email: 'kanarienvogel@example.org' });
  await importUsers(desk, anna, [one]);
  const rows = await identity.sql('select audit_log::text as row from audit_log');
  const log = rows.map(({ row }) => row).join('\n');
  expect(log).toContain(`user:${one.sub}`);
  expect(log.toLowerCase()).not.toContain('kanarienvogel');
  expect(log).not.toContain('$2b$');
});
