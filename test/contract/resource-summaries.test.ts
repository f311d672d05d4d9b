// How an Event is put together from designs (R22, R23), with designs that the test writes itself.
import { expect } from 'vitest';
import type { DemoUser } from '../support/stack-file.ts';
import { api, freshBrowser, storeTest as test, tokensFor } from './deployment.ts';
import { expectError } from './expectations.ts';
import { sql, throwawayUser } from './throwaway.ts';

type Design = {
  id: string;
  event: string | null;
  name?: string;
  date?: string;
  updated?: string | null;
  deleted?: boolean;
};

async function userWith(designs: readonly Design[]): Promise<{ user: DemoUser; token: string }> {
  const user = await throwawayUser();
  const token = (await tokensFor({ user, agent: freshBrowser() })).access_token;
  for (const design of designs) await write(user, design);
  return { user, token };
}

async function write(
  user: DemoUser,
  { id, event, name = '', date, updated = null, deleted = false }: Design,
): Promise<void> {
  await sql(
    `insert into catalog.designs (owner, id, event_id, title, event_name, short_descr, event_date, updated_at, deleted_at)
     values ($1, $2, $3, 'T', $4, '', $5, $6, case when $7 then now() end)`,
    user.sub,
    id,
    event,
    name,
    date ?? null,
    updated,
    deleted,
  );
}

async function eventsOf(token: string): Promise<Record<string, unknown>[]> {
  return (await api('/api/events', token)).json().items as Record<string, unknown>[];
}

async function idsOf(token: string, event: string): Promise<unknown[]> {
  const answer = await api(`/api/events/${Buffer.from(event).toString('base64url')}/designs`, token);
  return (answer.json().items as { id: string }[]).map((design) => design.id);
}

test('name, dates and update of an Event are those of its designs [R22.1 R22.2 R22.3 R22.4 S2.event.4]', async () => {
  const { token } = await userWith([
    { id: 'a', event: 'E', name: 'Old', date: '2026-05-03T10:00:00Z', updated: '2026-01-01T00:00:00Z' },
    {
      id: 'b',
      event: 'E',
      name: 'New',
      date: '2026-05-01T23:59:59.9994+02:00',
      updated: '2026-02-01T00:00:00.123Z',
    },
    { id: 'c', event: 'E', name: 'Undated', updated: null },
    {
      id: 'd',
      event: 'E',
      name: 'Deleted',
      date: '2030-01-01T00:00:00Z',
      updated: '2030-01-01T00:00:00Z',
      deleted: true,
    },
  ]);
  expect(await eventsOf(token)).toEqual([
    {
      id: Buffer.from('E').toString('base64url'),
      name: 'New',
      startDate: '2026-05-01T21:59:59.999Z',
      endDate: '2026-05-03T10:00:00.000Z',
      updatedAt: '2026-02-01T00:00:00.123Z',
      designCount: 3,
    },
  ]);
  expect(await idsOf(token, 'E')).toEqual(['b', 'a', 'c']);
});

test('without update times the smallest id decides, in the name as in the list [R22.7 R23.1]', async () => {
  const { token } = await userWith([
    { id: 'z', event: 'E', name: 'Z' },
    { id: 'b', event: 'E', name: 'B' },
    { id: 'B', event: 'E', name: 'Upper' },
    { id: 'y', event: 'F', name: 'Y', updated: '2026-01-01T00:00:00Z' },
    { id: 'x', event: 'F', name: 'X', updated: '2026-01-01T00:00:00Z' },
    { id: 'a', event: 'F', name: 'A' },
  ]);
  const names = Object.fromEntries(
    (await eventsOf(token)).map(({ id, name }) => [Buffer.from(String(id), 'base64url').toString(), name]),
  );
  expect(names).toEqual({ E: 'Upper', F: 'X' });
  expect(await idsOf(token, 'E')).toEqual(['B', 'b', 'z']);
  expect(await idsOf(token, 'F')).toEqual(['x', 'y', 'a']);
});

test('an Event whose last design is deleted is gone; deleted and restored designs follow at once [R22.5 S1.9 S2.rule.2 S3.1]', async () => {
  const { user, token } = await userWith([
    { id: 'a', event: 'E' },
    { id: 'b', event: 'E' },
  ]);
  const path = `/api/events/${Buffer.from('E').toString('base64url')}/designs`;
  await sql("update catalog.designs set deleted_at = now() where owner = $1 and id = 'a'", user.sub);
  expect(await idsOf(token, 'E')).toEqual(['b']);
  await sql('update catalog.designs set deleted_at = now() where owner = $1', user.sub);
  expect(await eventsOf(token)).toEqual([]);
  expectError(await api(path, token), 404, 'not_found');
  await sql("update catalog.designs set deleted_at = null where owner = $1 and id = 'a'", user.sub);
  expect(await idsOf(token, 'E')).toEqual(['a']);
});

test('the public id is base64url of the stored identifier and works in the path, whatever it holds [R22.8 S2.event.2]', async () => {
  const stored = [
    'x',
    '../..',
    'a/b?c#d',
    '100 %',
    'Zürich „Grand Prix“ 🐎',
    '\u0001\n',
    ' ',
    '%2F',
    '-_',
    'ä'.repeat(200),
  ];
  const { token } = await userWith(stored.map((event, index) => ({ id: `d${index}`, event })));
  const events = await eventsOf(token);
  expect(events.map(({ id }) => Buffer.from(String(id), 'base64url').toString()).sort()).toEqual(
    [...stored].sort(),
  );
  for (const [index, event] of stored.entries())
    expect(await idsOf(token, event), event).toEqual([`d${index}`]);
  for (const { id } of events) expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
});
