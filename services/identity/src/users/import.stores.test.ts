// Passwords of other systems: their hashes at the import, and until a login makes them ours.
import { pbkdf2Sync } from 'node:crypto';
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { unavailable } from '@course-exchange/runtime/process/errors';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { expect, test, vi } from 'vitest';
import {
  anna,
  newImportRecord as record,
  refusalOf,
  useOperatorContext,
} from '../../../../test/stores/operator-context.ts';
import { renewPasswordHash } from '../login/credentials.ts';
import {
  createHashingQueue,
  createPasswordVerifier,
  createRehash,
  hashPassword,
  needsRehash,
} from '../login/password.ts';
import { createFormReport } from '../login/unverifiable-forms.ts';
import type { OperatorContext } from '../operator-port.ts';
import { getAccount } from './admin.ts';
import { importUsers } from './import.ts';
import type { ImportRecord } from './import-record.ts';
import { type PasswordHash, passwordForm, passwordHashText } from './password-hash.ts';
import { findUserByEmail, listPasswordForms } from './user-table.ts';

const { identity, context } = await useOperatorContext();

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

const queue = createHashingQueue({ concurrency: 4, waiting: 100, longestWaitMs: 60_000 });
const verifier = {
  queue,
  heldForms: () => listPasswordForms(identity.database),
  onUnverifiableForm: () => {},
};
const verify = createPasswordVerifier(verifier);
const dots = (count: number) => '.'.repeat(count);

test('a password of another system opens, and is hashed as ours at the next login (R18.3)', async () => {
  for (const passwordHash of hashes) {
    const one = record({ passwordHash });
    await importUsers(context, anna, [one]);
    const user = await findUserByEmail(identity.database, one.email);
    if (!user) throw new Error('not imported');
    expect(await verify({ passwordHash: user.passwordHash, password }), passwordHash).toEqual({
      matched: password,
    });
    await renewPasswordHash({ database: identity.database, rehash: createRehash(queue) }, user, password);
    const renewed = await findUserByEmail(identity.database, one.email);
    expect(needsRehash(renewed?.passwordHash ?? '')).toBe(false);
    expect(await verify({ passwordHash: renewed?.passwordHash, password })).toEqual({ matched: password });
    expect(await importUsers(context, anna, [one])).toMatchObject({ unchanged: 1 });
    expect((await findUserByEmail(identity.database, one.email))?.passwordHash).toBe(renewed?.passwordHash);
  }
});

test('a wrong password costs a hash of each scheme and cost that users have, from the import on [R18.5]', async () => {
  const verified: string[] = [];
  const matches = async (hash: PasswordHash) => verified.push(passwordHashText(hash)) < 0;
  const verify = createPasswordVerifier({ ...verifier, matches });
  const form = '$scrypt$ln=3,r=7,p=1$';
  const costsIt = async () => {
    verified.length = 0;
    await verify({ passwordHash: undefined, password: 'wrong' });
    return verified.some((hash) => hash.startsWith(form));
  };
  expect(await costsIt()).toBe(false);
  const passwordHash = `${form}c2FsdHNhbHQ$aWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A`;
  await importUsers(context, anna, [record({ passwordHash }), record()]);
  expect(await costsIt()).toBe(true);
  const odd = [`$scrypt$ln=4,r=8,p=1$c2FsdA==$${'A'.repeat(171)}=`, '$1$salt🐎\n$qjXMvbEw8oaL.CzflDtaK/'];
  for (const text of odd)
    await identity.sql('insert into users (sub, email, password_hash) values ($1, $1, $2)', [text, text]);
  const held = await verifier.heldForms();
  expect(held).toEqual([...new Set(held)]);
  const expected = [`$2b$06$${dots(53)}`, `$argon2id$v=19$m=19456,t=2,p=1$${dots(22)}$${dots(43)}`];
  expect(held).toEqual(expect.arrayContaining([...expected, ...odd.map(passwordForm)]));
  await identity.sql('delete from users where sub = any($1)', [odd]);
});

const end = 'c2FsdHNhbHQ$aWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A';
const rejectedFor = async (records: readonly ImportRecord[], of = context) =>
  (await importUsers(of, anna, records)).rejected.map(({ reason }) => reason);

test('an imported hash is stored in its canonical text; the import is known again by the text that it had [R18.6]', async () => {
  const passwordHash = `$argon2id$v=19$m=0080,t=01,p=1$${end.replace('$', '=$')}=`;
  const one = record({ passwordHash });
  await importUsers(context, anna, [one]);
  const { passwordHash: stored } = await getAccount(context, { sub: one.sub });
  expect(stored).toBe(`$argon2id$v=19$m=80,t=1,p=1$${end}`);
  expect(await importUsers(context, anna, [one])).toMatchObject({ unchanged: 1, signedOut: 0 });
});

test('a hash that the verifier does not compute is a rejected line; its form is computed once [R18.7]', async () => {
  // More memory than scrypt may take, of which the parser knows nothing.
  const refused = [7, 8].map((salt) =>
    record({ passwordHash: `$scrypt$ln=1,r=524288,p=4$c2FsdHNhbHQ${salt}$${end.split('$')[1]}` }),
  );
  const verifiesForm = vi.fn(context.verifiesForm);
  const of = { ...context, verifiesForm };
  const good = record();
  expect(await rejectedFor([...refused, good], of)).toEqual(
    refused.map(() => 'The verifier refuses the costs or the lengths of the password hash.'),
  );
  expect(verifiesForm).toHaveBeenCalledTimes(2);
  expect(await getAccount(context, { sub: good.sub })).toMatchObject({ sub: good.sub });
  const unable = { ...context, verifiesForm: () => Promise.reject(unavailable('the password verifier')) };
  await expect(importUsers(unable, anna, [record()])).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
});

test('a batch brings at most sixteen forms that nobody has; what is known or held is none of them [R18.7]', async () => {
  const formed = (rounds: number) => record({ passwordHash: `$pbkdf2-sha256$i=${rounds}$${end}` });
  const seventeen = Array.from({ length: 17 }, (_, nth) => formed(nth + 1));
  expect(await rejectedFor(seventeen)).toEqual([expect.stringContaining('at most 16 forms')]);
  expect(await importUsers(context, anna, seventeen)).toMatchObject({ created: 1, unchanged: 16 });
  const others = Array.from({ length: 16 }, (_, nth) => formed(nth + 101));
  const again = Array.from({ length: 17 }, (_, nth) => formed(nth + 1));
  expect(await importUsers(context, anna, [...others, ...again])).toMatchObject({
    created: 33,
    rejected: [],
  });
  // Nobody has the old forms after a login, and importing the same lines stores none.
  await identity.sql('update users set password_hash = $1 where sub = any($2)', [
    await hashPassword(password),
    [...seventeen, ...again, ...others].map(({ sub }) => sub),
  ]);
  const fresh = Array.from({ length: 16 }, (_, nth) => formed(nth + 201));
  expect(await importUsers(context, anna, [...seventeen, ...fresh])).toMatchObject({
    ...{ created: 16, unchanged: 17, rejected: [] },
  });
  // Neither does one that is refused, or of a line that is.
  const refused = Array.from({ length: 16 }, (_, nth) =>
    record({ passwordHash: `$scrypt$ln=1,r=${524_288 - nth},p=4$${end}` }),
  );
  const taken = Array.from({ length: 16 }, (_, nth) => ({
    ...formed(nth + 301),
    email: again[nth]?.email ?? '',
  }));
  const last = formed(401);
  expect(await importUsers(context, anna, [...refused, ...taken, last])).toMatchObject({ created: 1 });
  expect(await getAccount(context, { sub: last.sub })).toMatchObject({ sub: last.sub });
});

test('a batch whose password another import replaces meanwhile is sent again', async () => {
  const [one, other] = [`$2b$06$${'e'.repeat(53)}`, `$2b$07$${'e'.repeat(53)}`];
  const user = record({ passwordHash: one });
  await importUsers(context, anna, [user]);
  const database: OperatorContext['database'] = {
    ...context.database,
    query: async <Row>(...asked: Parameters<Queries['query']>) => {
      const rows = await context.database.query<Row>(...asked);
      if (asked[0].name === 'users of a batch')
        await importUsers(context, anna, [{ ...user, passwordHash: other }]);
      return rows;
    },
  };
  const refusal = await refusalOf(importUsers({ ...context, database }, anna, [user]));
  expect(refusal).toMatchObject({ code: 'conflict' });
});

test('the log tells once which forms cannot be verified, and of how many users [R18.8]', async () => {
  const short = `$argon2id$v=19$m=64,t=1,p=1$c2FsdA$${end.split('$')[1]}`;
  for (const { sub, email } of [record(), record()])
    await identity.sql('insert into users (sub, email, password_hash) values ($1, $2, $3)', [
      sub,
      email,
      short,
    ]);
  const warn = vi.fn();
  let fails = true;
  const database: Queries = {
    query: (...asked) =>
      fails ? Promise.reject(unavailable('Postgres')) : identity.database.query(...asked),
  };
  const report = createFormReport(database, { ...createLogger('identity', 'error'), warn });
  const reporting = createPasswordVerifier({ ...verifier, onUnverifiableForm: report });
  expect(await reporting({ passwordHash: undefined, password })).toBe('differs');
  fails = false;
  for (const passwordHash of [undefined, short, '$1$saltsalt$qjXMvbEw8oaL.CzflDtaK/', '-'])
    await reporting({ passwordHash, password });
  const message = 'password hashes cannot be verified';
  await expect
    .poll(() => warn.mock.calls)
    .toEqual([
      [message, { form: 'argon2id v=19 m=64,t=1,p=1 salt=4 key=32', users: 2 }],
      [message, { form: 'unknown' }],
    ]);
});
