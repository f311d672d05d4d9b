// Users on the operator's side: imports that may be repeated.
import { expect, test } from 'vitest';
import {
  anna,
  newImportRecord as record,
  useOperatorContext,
} from '../../../../test/stores/operator-context.ts';
import { getAccount } from './admin.ts';
import { importUsers } from './import.ts';

const { identity, context } = await useOperatorContext();

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

test('no e-mail, name or password hash of a user is in the audit log', async () => {
  const one = record({ name: 'Kanarienvogel', email: 'kanarienvogel@example.org' });
  await importUsers(context, anna, [one]);
  const log = JSON.stringify(await identity.sql('select audit_log::text as row from audit_log'));
  expect(log).toContain(`user:${one.sub}`);
  expect(log.toLowerCase()).not.toContain('kanarienvogel');
  expect(log).not.toContain('$2b$');
});
