// The audit log: one chain under many writers, append-only by the database's own word, and a change without its
// entry does not happen.
import { followAudit, listAudit, readAuditHead, verifyAudit } from '@course-exchange/runtime/audit/table';
import { expect, test } from 'vitest';
import { anna, bert, newRegistration, useOperatorContext } from '../../../../test/stores/operator-context.ts';
import type { IdentityDatabase } from '../../../../test/stores/postgres.ts';
import { registerClient } from '../clients/admin.ts';
import { auditedTransaction } from './context.ts';

const { identity, context } = await useOperatorContext();
const register = (request = anna, registration = newRegistration()) =>
  registerClient(context, request, { registration, firstSecret: undefined });
const all = { afterSequence: 0, limit: 1_000, newest: false };

test('fifty writers at once make one chain without a gap', async () => {
  await Promise.all(Array.from({ length: 50 }, (_, index) => register(index % 2 ? anna : bert)));
  const entries = await listAudit(context.database, {}, all);
  expect(entries.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 50 }, (_, index) => index + 1),
  );
  expect(await verifyAudit(context.database, undefined)).toMatchObject({
    head: { sequence: 50 },
    firstBreak: undefined,
  });
});

test('entries are found by actor, client, object, action and page', async () => {
  const registration = newRegistration();
  await register(bert, registration);
  const { clientId } = registration;
  for (const filter of [
    { clientId },
    { object: `client:${clientId}` },
    { clientId, actor: 'local:bert' },
    { clientId, action: 'client' },
  ])
    expect(await listAudit(context.database, filter, all)).toMatchObject([
      { actor: 'local:bert', action: 'client.register', requestId: 'request-bert' },
    ]);
  expect(await listAudit(context.database, { actor: 'local:nobody' }, all)).toEqual([]);
  const newest = await listAudit(context.database, {}, { ...all, limit: 2, newest: true });
  expect(newest.map(({ sequence }) => sequence)).toEqual([50, 51]);
});

test('a change whose audit entry cannot be written does not happen', async () => {
  const registration = newRegistration();
  await identity.sql('alter table audit_log add constraint broken check (sequence < 0) not valid');
  await expect(register(anna, registration)).rejects.toMatchObject({ code: '23514' });
  await identity.sql('alter table audit_log drop constraint broken');
  expect(await identity.sql('select 1 from clients where client_id = $1', [registration.clientId])).toEqual(
    [],
  );
  const failing = auditedTransaction(context, anna, async ({ queries, recordChange }) => {
    await queries.query({ name: '', text: `update users set name = 'x'` }, []);
    recordChange({ action: 'user.enable', object: 'user:x', fields: [] });
    throw new Error('later');
  });
  await expect(failing).rejects.toThrow('later');
  expect((await verifyAudit(context.database, undefined)).head.sequence).toBe(51);
});

test('followers see each entry once and in order', async () => {
  const stop = new AbortController();
  const seen: number[] = [];
  const follower = (async () => {
    for await (const { sequence } of followAudit(
      context.database,
      { actor: 'local:anna' },
      51,
      stop.signal,
    )) {
      seen.push(sequence);
      if (seen.length === 20) stop.abort();
    }
  })();
  await Promise.all(Array.from({ length: 20 }, () => register()));
  await follower;
  expect(seen).toEqual(Array.from({ length: 20 }, (_, index) => index + 52));
});

test('neither role may change or delete an entry, the public one may not even read', async () => {
  const attempt = (database: IdentityDatabase['operator'], text: string) =>
    database.query({ name: '', text }, []);
  for (const text of ['update audit_log set actor = actor', 'delete from audit_log', 'truncate audit_log'])
    await expect(attempt(identity.operator, text)).rejects.toMatchObject({ code: '42501' });
  for (const text of [
    'select * from audit_log',
    `insert into audit_log (sequence) values (1)`,
    'update clients set active = active',
  ])
    await expect(attempt(identity.database, text)).rejects.toMatchObject({ code: '42501' });
  await expect(identity.sql('delete from audit_log')).rejects.toMatchObject({ code: '42501' });
});

test('a changed, removed, truncated or rewritten log is detected', async () => {
  const noted = (await verifyAudit(context.database, undefined)).head;
  const tamper = async (text: string) => {
    await identity.sql('alter table audit_log disable trigger audit_log_append_only');
    await identity.sql(text);
    await identity.sql('alter table audit_log enable trigger audit_log_append_only');
  };
  expect(await verifyAudit(context.database, noted)).toMatchObject({ firstBreak: undefined });
  await tamper(`delete from audit_log where sequence = ${noted.sequence}`);
  expect((await verifyAudit(context.database, undefined)).firstBreak).toBeUndefined();
  expect((await verifyAudit(context.database, noted)).firstBreak).toMatchObject({ sequence: noted.sequence });
  await register(bert);
  expect((await verifyAudit(context.database, noted)).firstBreak?.reason).toContain('rewritten');
  await tamper(`delete from audit_log where sequence = 30`);
  expect((await verifyAudit(context.database, undefined)).firstBreak?.reason).toBe('Entry 30 is missing.');
  await tamper(`update audit_log set actor = 'local:eve' where sequence = 7`);
  expect((await verifyAudit(context.database, undefined)).firstBreak?.sequence).toBe(7);
});

const inserting = (rows: readonly string[], more = '') => {
  const values = rows.map(
    (sequence) =>
      `(${sequence}, now(), 'eve', 'user.enable', 'user:x', null, 'r', '[]', decode(repeat('00', 32), 'hex'))`,
  );
  return { name: '', text: `insert into audit_log values ${values.join(', ')} ${more}` };
};
const insert = (...inserted: Parameters<typeof inserting>) =>
  identity.operator.query(inserting(...inserted), []);

test('the log takes its next entry alone, also of a role that writes past the service', async () => {
  const { sequence: last } = await readAuditHead(context.database);
  const next = (by: number) => String(last + by);
  for (const rows of [
    ['9223372036854775807'],
    ['-9223372036854775808'],
    ['0'],
    ['null'],
    [next(2)],
    [next(0)],
    [next(-60)],
    [next(1), next(3)],
    [next(2), next(1)],
    [next(1), next(1)],
  ])
    await expect(insert(rows), rows.join()).rejects.toMatchObject({ code: /^(23514|22003)$/ });
  await expect(insert([next(0)], 'on conflict do nothing')).rejects.toMatchObject({ code: '23514' });
  await expect(insert([next(2)])).rejects.toThrow(
    `the audit log ends with entry ${last}: its next is not ${last + 2}`,
  );
  await insert([next(1), next(2), next(3)]);
  await register();
  expect((await readAuditHead(context.database)).sequence).toBe(last + 4);
});

test('a transaction that does not see the last entry cannot pass it', async () => {
  const { sequence: last } = await readAuditHead(context.database);
  await identity.operator.transaction(async (queries) => {
    await queries.query(inserting([String(last + 1)]), []);
    await expect(insert([String(last + 2)])).rejects.toMatchObject({ code: '23514' });
  });
});

test('no service role may attach the check of the next entry to a table of its own', async () => {
  const may = await identity.sql(
    `select has_function_privilege('identity_operator', 'require_next_sequence()', 'execute') as may`,
  );
  expect(may).toEqual([{ may: false }]);
});
