// One e-mail address in several spellings: whom a login, an operator and an import mean by it.
import { describe, expect, test } from 'vitest';
import { accepted, useAuthorization, wrongPassword } from '../../../../test/stores/identity-authorization.ts';
import {
  anna,
  dry,
  newImportRecord,
  openOperatorContext,
  refusalOf,
} from '../../../../test/stores/operator-context.ts';
import { getAccount } from './admin.ts';
import { importUsers } from './import.ts';
import { listSharedEmails, refoldUsers } from './refold.ts';

const { identity, addPerson, beginForm, logIn } = await useAuthorization();
const context = openOperatorContext(identity);
let count = 0;
/** An address of a local part and a domain that no other test has. */
function address(local: string, domain: string): string {
  count += 1;
  return `${local}${count}@${domain}`;
}
const spell = (email: string, from: string, to: string) => email.replace(from, to);
const typedBy = async (email: string) => logIn(await beginForm(), { who: { email } });
const keyOf = async (sub: string) =>
  (await identity.sql('select email_key from users where sub = $1', [sub]))[0]?.email_key;
const refoldAll = async () => {
  for (let after = ''; ; ) {
    const { result } = await refoldUsers(context, anna, after);
    after = result.last;
    if (after === '') return;
  }
};

const [composed, decomposed] = ['josé', 'josé'.normalize('NFD')];
const spellings = [
  ['petra', 'bücher.example', 'xn--bcher-kva.example'],
  ['paul', 'xn--bcher-kva.example', 'bücher.example'],
  ['pia', 'bücher.example', 'BÜCHER.Example'],
  ['pit', 'bücher.example', 'bücher.example'.normalize('NFD')],
  ['ada', 'parcours。example', 'parcours.example'],
  ['ΝΊΚΟΣ', 'Bücher.example', 'xn--bcher-kva.example'],
  ['İzmir', 'bücher.example', 'xn--bcher-kva.example'],
] as const;

describe('a login finds its user in each spelling of the address [R30.13]', () => {
  test.each(spellings)('%s@%s, typed with %s', async (local, stored, typed) => {
    const { email, sub } = await addPerson(address(local, stored));
    await refoldAll();
    const other = spell(email, stored, typed);
    for (const cased of [other.toUpperCase(), other.toLowerCase()])
      expect(await typedBy(cased), cased).toMatchObject(accepted);
    expect(await getAccount(context, { email: spell(email, stored, typed) })).toMatchObject({ sub, email });
  });

  test('a local part in another normal form', async () => {
    const { email } = await addPerson(address(decomposed, 'example.org'));
    await refoldAll();
    expect(await typedBy(spell(email, decomposed, composed))).toMatchObject(accepted);
  });

  test('a user who came before the keys, after the first login in the stored spelling', async () => {
    const { email, sub } = await addPerson(address('petra', 'bücher.example'));
    expect(await keyOf(sub)).toBeNull();
    const typed = spell(email, 'bücher', 'xn--bcher-kva');
    expect(await typedBy(typed)).toMatchObject(wrongPassword);
    expect(await typedBy(email)).toMatchObject(accepted);
    await expect.poll(() => keyOf(sub)).toBe(typed);
    expect(await typedBy(typed)).toMatchObject(accepted);
  });

  test('not by an address that the previous version has replaced', async () => {
    const { email, sub } = await addPerson(address('petra', 'bücher.example'));
    await refoldAll();
    await identity.sql('update users set email = $2 where sub = $1', [sub, address('new', 'example.org')]);
    expect(await typedBy(spell(email, 'bücher', 'xn--bcher-kva'))).toMatchObject(wrongPassword);
    await refoldAll();
    expect(await keyOf(sub)).toMatch(/^new/);
  });
});

describe('two users of one address in different spellings, of an earlier version [R30.14]', () => {
  const pair = async () => {
    const first = await addPerson(address('petra', 'bücher.example'));
    const second = await addPerson(spell(first.email, 'bücher', 'xn--bcher-kva'));
    return [first, second] as const;
  };

  test('log in each by the stored spelling, and nobody by another', async () => {
    const [first, second] = await pair();
    await refoldAll();
    for (const { email } of [first, second]) {
      expect(await typedBy(email.toUpperCase())).toMatchObject(accepted);
      expect(await getAccount(context, { email })).toMatchObject({ email });
    }
    const third = spell(first.email, 'bücher', 'bücher'.normalize('NFD'));
    expect(await typedBy(third)).toMatchObject(wrongPassword);
    expect((await refusalOf(getAccount(context, { email: third }))).detail).toContain('Give the sub');
  });

  test('are listed, also where there are no keys yet', async () => {
    const users = (await pair()).map(({ sub }) => sub).sort();
    expect(await listSharedEmails(identity.operator)).toContainEqual(users);
    await refoldAll();
    expect(await listSharedEmails(identity.operator)).toContainEqual(users);
  });

  test('stay as they are in an import, which lets neither take the other spelling, nor a third user', async () => {
    const [first, second] = await pair();
    const records = [first, second].map((user) => newImportRecord(user));
    expect(await importUsers(context, anna, records)).toMatchObject({ updated: 2, rejected: [] });
    expect(await importUsers(context, anna, records)).toMatchObject({ unchanged: 2 });
    const third = newImportRecord({ email: spell(first.email, 'bücher', 'BÜCHER') });
    const swapped = newImportRecord({ sub: first.sub, email: second.email });
    const taken = { reason: 'Another user has this e-mail address.' };
    for (const record of [third, swapped])
      expect(await importUsers(context, anna, [record])).toMatchObject({ rejected: [taken] });
  });
});

describe('an import [R30.13]', () => {
  test.each(spellings)('takes %s@%s, but no second user with %s', async (local, stored, other) => {
    const email = address(local, stored);
    const [first, second] = [{ email }, { email: spell(email, stored, other) }].map(newImportRecord);
    const sentence = { reason: 'Another user has this e-mail address.' };
    if (!first || !second) throw new Error('two records');
    // In one batch, and in two.
    expect(await importUsers(context, anna, [first, second])).toMatchObject({
      created: 1,
      rejected: [sentence],
    });
    expect(await importUsers(context, anna, [second])).toMatchObject({ created: 0, rejected: [sentence] });
    expect(await importUsers(context, anna, [{ ...second, sub: '' }])).toMatchObject({ updated: 1 });
  });

  test('finds a user whom the previous version stored, by another spelling', async () => {
    const { email, sub } = await addPerson(address('petra', 'bücher.example'));
    const other = spell(email, 'bücher', 'xn--bcher-kva');
    const taken = { reason: 'Another user has this e-mail address.' };
    const [second, same] = [newImportRecord({ email: other }), newImportRecord({ email: other, sub: '' })];
    expect(await importUsers(context, anna, [second, same])).toMatchObject({ updated: 1, rejected: [taken] });
    expect(await getAccount(context, { sub })).toMatchObject({ email: other });
  });

  test('means one user by two spellings without a sub', async () => {
    const email = address('petra', 'bücher.example');
    const records = [email, spell(email, 'bücher', 'xn--bcher-kva')].map((spelled) =>
      newImportRecord({ sub: '', email: spelled }),
    );
    const reason = 'An earlier record of the batch names the same user.';
    expect(await importUsers(context, anna, records)).toMatchObject({ created: 1, rejected: [{ reason }] });
  });

  test('of one address in ten spellings at once brings one user', async () => {
    const email = address('p', 'bücher.example');
    const hosts = ['bücher', 'BÜCHER', 'xn--bcher-kva', 'XN--BCHER-KVA', 'bücher'.normalize('NFD')];
    const spelled = [...hosts, ...hosts].map((host) => spell(email, 'bücher', host));
    const imports = spelled.map((one) => importUsers(context, anna, [newImportRecord({ email: one })]));
    const results = await Promise.all(imports);
    expect(results.map(({ created }) => created).sort()).toEqual([...Array(9).fill(0), 1]);
  });

  test('writes the keys of users whom it leaves unchanged, without an entry in the audit log', async () => {
    const record = newImportRecord({ email: address('petra', 'bücher.example') });
    await importUsers(context, anna, [record]);
    await identity.sql('update users set email_key = null where sub = $1', [record.sub]);
    const entries = () => identity.sql('select count(*) from audit_log');
    const before = await entries();
    expect(await importUsers(context, anna, [record])).toMatchObject({ unchanged: 1 });
    expect(await keyOf(record.sub)).toMatch(/xn--bcher-kva/);
    expect(await entries()).toEqual(before);
  });
});

test('a refold goes page by page, writes nothing when it is dry, and nothing twice', async () => {
  // No random sub comes after eight of them.
  const prefix = 'zzzzzzzz';
  await identity.sql(`insert into users (sub, email, password_hash)
    select '${prefix}' || n, 'ö' || n || '@bücher.example', '-' from generate_series(1, 1200) n`);
  const page = async (after: string, request = anna) => (await refoldUsers(context, request, after)).result;
  expect(await page(prefix, dry)).toMatchObject({ examined: 1_000, refolded: 1_000 });
  const first = await page(prefix);
  expect(first).toMatchObject({ examined: 1_000, refolded: 1_000 });
  expect(await page(first.last)).toEqual({ examined: 200, refolded: 200, last: '' });
  expect(await page(prefix)).toMatchObject({ examined: 1_000, refolded: 0 });
});
