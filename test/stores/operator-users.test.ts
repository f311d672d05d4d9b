// Users on the operator's side: imports that may be repeated, and passwords of other systems.
import { pbkdf2Sync } from 'node:crypto';
import { expect, test } from 'vitest';
import { renewPasswordHash } from '../../services/identity/src/login/credentials.ts';
import {
  createHashingQueue,
  createPasswordVerifier,
  createRehash,
  needsRehash,
} from '../../services/identity/src/login/password.ts';
import { getAccount } from '../../services/identity/src/users/admin.ts';
import { type ImportRecord, importUsers } from '../../services/identity/src/users/import.ts';
import { findUserByEmail, listPasswordForms } from '../../services/identity/src/users/user-table.ts';
import { anna, useAdminContext } from './operator-context.ts';

const { identity, context } = await useAdminContext();

const password = 'Hindernis 7 – Oxer';
/** Base64 as passlib writes it. */
const adapted = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '').replaceAll('+', '.');
const salt = Buffer.from('salt of another system');
const key = pbkdf2Sync(password, salt, 6_400, 64, 'sha512');
/** Forms that password-hash.test does not have, and argon2id of other costs than ours. */
const hashes = [
  '$argon2id$v=19$m=8192,t=1,p=1$tABuvwMtIlcyFoS03nzGqg$ORj4cEL8COcOfbZbKUz97YLso2luJigXeZ5t9J0p0mM',
  '$2b$06$8fn4dxxFU/gRJaDslJ3WmuFRIZm9LDt9QUfHovhR8uMy76HLXKZ9a',
  '$2y$06$8fn4dxxFU/gRJaDslJ3WmuFRIZm9LDt9QUfHovhR8uMy76HLXKZ9a',
  `$pbkdf2-sha512$6400$${adapted(salt)}$${adapted(key)}`,
];

let line = 0;
function record(over: Partial<ImportRecord> = {}): ImportRecord {
  line += 1;
  return {
    line,
    sub: `imported-${line}`,
    email: `rider${line}@example.org`,
    emailVerified: true,
    name: `Rider ${line}`,
    passwordHash: `$2b$06$${'e'.repeat(53)}`,
    ...over,
  };
}

test('an import sent again changes nothing, and what changed is updated', async () => {
  const records = Array.from({ length: 1_000 }, () => record());
  expect(await importUsers(context, anna, records)).toMatchObject({ created: 1_000, rejected: [] });
  expect(await importUsers(context, anna, records)).toMatchObject({ unchanged: 1_000 });
  const changed = records.map((one, index) => (index < 3 ? { ...one, name: 'Renamed' } : one));
  expect(await importUsers(context, anna, changed)).toMatchObject({ updated: 3, unchanged: 997 });
});

test('an import keeps the sub of whom it knows by e-mail, and makes a random one for somebody new (R19)', async () => {
  const one = record({ sub: '', email: 'Nova@Example.org' });
  await importUsers(context, anna, [one]);
  const { sub } = await getAccount(context, { email: 'nova@example.org' });
  expect(sub).toMatch(/^[A-Za-z0-9_-]{22}$/);
  await importUsers(context, anna, [{ ...one, name: 'Nova Neu' }]);
  expect(await getAccount(context, { sub })).toMatchObject({ sub, name: 'Nova Neu' });
});

test('an import leaves out what is wrong, with line and reason, and takes the rest', async () => {
  const known = record();
  await importUsers(context, anna, [known]);
  const good = record();
  const batch = [
    record({ email: 'no address' }),
    record({ sub: 'with@sign' }),
    record({ passwordHash: '5f4dcc3b5aa765d61d8327deb882cf99' }),
    record({ email: known.email.toUpperCase() }),
    good,
    record({ email: good.email }),
  ];
  const { created, rejected } = await importUsers(context, anna, batch);
  expect(created).toBe(1);
  expect(rejected.map((one) => one.line)).toEqual(batch.filter((one) => one !== good).map((one) => one.line));
  expect(rejected.map(({ reason }) => reason).join(' ')).not.toContain('@');
});

test('ten imports of the same users at once bring each user once', async () => {
  const records = Array.from({ length: 50 }, () => record({ sub: '' }));
  const all = await Promise.allSettled(Array.from({ length: 10 }, () => importUsers(context, anna, records)));
  for (const one of all)
    if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'conflict' });
  expect(await importUsers(context, anna, records)).toMatchObject({ unchanged: 50 });
  const rows = await identity.sql('select count(*) from users where email = any($1)', [
    records.map(({ email }) => email),
  ]);
  expect(Number(rows[0]?.count)).toBe(50);
});

test('a password of another system opens, becomes ours at the next login, and stays when the import is repeated (R18.3)', async () => {
  const queue = createHashingQueue({ concurrency: 4, waiting: 100, longestWaitMs: 60_000 });
  const verify = createPasswordVerifier(queue, () => listPasswordForms(identity.database));
  for (const passwordHash of hashes) {
    const one = record({ passwordHash });
    await importUsers(context, anna, [one]);
    const user = await findUserByEmail(identity.database, one.email);
    if (!user) throw new Error('not imported');
    expect(await verify({ passwordHash: user.passwordHash, password }), passwordHash).toBe(true);
    await renewPasswordHash({ database: identity.database, rehash: createRehash(queue) }, user, password);
    const renewed = await findUserByEmail(identity.database, one.email);
    expect(needsRehash(renewed?.passwordHash ?? '')).toBe(false);
    expect(await verify({ passwordHash: renewed?.passwordHash, password })).toBe(true);
    expect(await importUsers(context, anna, [one])).toMatchObject({ unchanged: 1 });
    expect((await findUserByEmail(identity.database, one.email))?.passwordHash).toBe(renewed?.passwordHash);
  }
});

test('a wrong password costs a hash of each scheme and cost that users have, from the import on [R18.5]', async () => {
  const queue = createHashingQueue({ concurrency: 4, waiting: 100, longestWaitMs: 60_000 });
  const verified: string[] = [];
  const forms = () => listPasswordForms(identity.database);
  const verify = createPasswordVerifier(queue, forms, async (hash) => verified.push(hash) < 0);
  const form = '$scrypt$ln=3,r=7,p=1$';
  const costsIt = async () => {
    verified.length = 0;
    await verify({ passwordHash: undefined, password: 'wrong' });
    return verified.some((hash) => hash.startsWith(form));
  };
  expect(await costsIt()).toBe(false);
  const passwordHash = `${form}c2FsdHNhbHQ$aWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A`;
  await importUsers(context, anna, [record({ passwordHash })]);
  expect(await costsIt()).toBe(true);
  const held = await forms();
  expect(held).toEqual([...new Set(held)]);
  expect(held).toEqual(expect.arrayContaining(['$2b$06$', '$argon2id$v=19$m=19456,t=2,p=1$']));
});

test('no e-mail, name or password hash of a user is in the audit log', async () => {
  const one = record({ name: 'Kanarienvogel', email: 'kanarienvogel@example.org' });
  await importUsers(context, anna, [one]);
  const log = JSON.stringify(await identity.sql('select audit_log::text as row from audit_log'));
  expect(log).toContain(`user:${one.sub}`);
  expect(log.toLowerCase()).not.toContain('kanarienvogel');
  expect(log).not.toContain('$2b$');
});
