// Events and designs (specification §2, §4), mostly of the demo users: fields, nulls, deleted ones, 730 designs, 2,000 events.
// How any designs become events is compared with a plain model: services/design-catalog/src/events/event-json.stores.test.ts.
import { describe, expect, test } from 'vitest';
import type { Answer } from '../support/http.ts';
import type { DemoUser } from '../support/stack-file.ts';
import { accessTokenOf, api, full, storeTest, twinPartner, typical, userWho } from './deployment.ts';
import { expectError } from './expectations.ts';
import { sql, throwawayUser } from './throwaway.ts';

type Item = Record<string, unknown>;
const eventFields = ['designCount', 'endDate', 'id', 'name', 'startDate', 'updatedAt'];
const designFields = [
  'authorName',
  'eventDate',
  'eventId',
  'eventName',
  'id',
  'localId',
  'shortDescr',
  'title',
  'updatedAt',
];
const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const season = () => userWho('typical season');

async function eventsOf(user: DemoUser): Promise<Item[]> {
  const answer = await api('/api/events', await accessTokenOf(user));
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(Object.keys(answer.json())).toEqual(['items']);
  return answer.json().items as Item[];
}

async function designsOf(
  user: DemoUser,
  eventId: unknown,
): Promise<{ event: Item; items: Item[]; answer: Answer }> {
  const answer = await api(`/api/events/${eventId}/designs`, await accessTokenOf(user));
  expect(answer.status).toBe(200);
  expect(Object.keys(answer.json()).sort()).toEqual(['event', 'items']);
  return { ...(answer.json() as { event: Item; items: Item[] }), answer };
}

function expectSummary(item: Item, fields: readonly string[], nullable: readonly string[]): void {
  expect(Object.keys(item).sort()).toEqual(fields);
  for (const [name, value] of Object.entries(item)) {
    if (value === null) expect(nullable, name).toContain(name);
    else if (name === 'designCount') expect(Number.isInteger(value) && Number(value) > 0).toBe(true);
    else expect(value, name).toBeTypeOf('string');
    if (value !== null && /Date$|At$/.test(name)) expect(value).toMatch(date);
  }
}

test('a typical season: fields, types, dates, counts and ids fit together [S2.event.1 S2.event.2 S2.event.3 S2.design.1 S2.design.2 S2.design.3 S2.rule.1 S4.resource.1 S4.resource.2 S1.1 S1.6 S3.1 R22.1 R23.2]', async () => {
  const user = season();
  const events = await eventsOf(user);
  expect(events.length).toBe(12);
  let designs = 0;
  for (const event of events) {
    expectSummary(event, eventFields, ['startDate', 'endDate', 'updatedAt']);
    const { event: again, items } = await designsOf(user, event.id);
    expect(again).toEqual(event);
    expect(items.length).toBe(event.designCount);
    for (const design of items) {
      expectSummary(design, designFields, ['localId', 'eventDate', 'updatedAt', 'authorName']);
      expect(design.eventId).toBe(event.id);
    }
    designs += items.length;
  }
  expect(designs).toBe(150);
});

test('no designs, designs without event, deleted designs: an empty list [S2.event.4 S2.event.5 S1.9 R22.5 R22.6 S2.rule.2]', async () => {
  for (const about of ['no designs', 'without event', 'all deleted']) {
    expect(await eventsOf(userWho(about)), about).toEqual([]);
  }
});

test('an event of 730 designs: 500 come, the count is true, no indicator [S4.resource.5 S8.1 R22.4 R23.1 R22.3]', async () => {
  const user = userWho('730 designs');
  const [event] = await eventsOf(user);
  expect(event?.designCount).toBe(730);
  const { event: again, items, answer } = await designsOf(user, event?.id);
  expect(items.length).toBe(500);
  expect(again).toEqual(event);
  expect(Object.keys(answer.headers).join()).not.toMatch(/link|total|count|range|cursor|next/);
  const updates = items.map((design) => String(design.updatedAt));
  expect(updates).toEqual([...updates].sort().reverse());
  expect(again.updatedAt).toBe(updates[0]);
});

test('2,000 events come in one answer [S4.resource.4 S8.2]', async () => {
  const events = await eventsOf(userWho('2,000 events'));
  expect(events.length).toBe(2_000);
  expect(new Set(events.map((event) => event.id)).size).toBe(2_000);
  expect(events.reduce((sum, event) => sum + Number(event.designCount), 0)).toBe(50_000);
});

test('every nullable field may be null, and no other is [S2.event.3 S2.design.2 R23.3]', async () => {
  const user = userWho('null fields');
  const [event] = await eventsOf(user);
  expect(event).toMatchObject({ startDate: null, endDate: null, updatedAt: null, name: '' });
  const { items } = await designsOf(user, event?.id);
  expect(items.length).toBeGreaterThan(0);
  for (const design of items) {
    expectSummary(design, designFields, ['localId', 'eventDate', 'updatedAt', 'authorName']);
    expect(design).toMatchObject({
      localId: null,
      eventDate: null,
      updatedAt: null,
      authorName: null,
      title: '',
      shortDescr: '',
    });
  }
});

storeTest(
  'the public id is base64url of the stored identifier and works in the path, whatever it holds [R22.8 S2.event.2]',
  async () => {
    const stored = ['../..', 'Zürich „Grand Prix“ 🐎', '\u0001\n', '%2F', 'ä'.repeat(200)];
    const user = await throwawayUser();
    await sql(
      `insert into catalog.designs (owner, id, event_id)
     select $1, nth::text, event from unnest($2::text[]) with ordinality as given (event, nth)`,
      user.sub,
      stored,
    );
    const ids = (await eventsOf(user)).map(({ id }) => String(id));
    expect(ids.map((id) => Buffer.from(id, 'base64url').toString()).sort()).toEqual(stored.toSorted());
    for (const id of ids) {
      expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
      expect((await designsOf(user, id)).items).toHaveLength(1);
    }
  },
);

describe('foreign events', () => {
  test('two users with one stored identifier see their own designs alone [S1.8 S2.rule.2 S5.api.4 R22.1]', async () => {
    const [user, other] = [season(), userWho('shares a stored event identifier')];
    const [mine, theirs] = [await eventsOf(user), await eventsOf(other)];
    const shared = mine.filter((event) => theirs.some(({ id }) => id === event.id));
    expect(shared.length).toBe(1);
    const [a, b] = [await designsOf(user, shared[0]?.id), await designsOf(other, shared[0]?.id)];
    const ids = new Set(a.items.map((design) => design.id));
    expect(b.items.filter((design) => ids.has(design.id))).toEqual([]);
    expect([a.items.length, b.items.length]).toEqual([a.event.designCount, b.event.designCount]);
  });

  test('a foreign and a nonexistent event answer alike, byte by byte, but for the request id [S4.resource.6 R24.1]', async () => {
    const token = await accessTokenOf(userWho('no designs'));
    const [event] = await eventsOf(season());
    const answers = [
      await api(`/api/events/${event?.id}/designs`, token),
      await api('/api/events/QUJD/designs', token),
    ];
    for (const answer of answers) expectError(answer, 404, 'not_found');
    const [foreign, none] = answers.map(({ headers: { 'x-request-id': _, date: __, ...headers }, text }) => ({
      headers,
      text,
    }));
    expect(foreign).toEqual(none);
  });
});

test('two partners of one user see the same [S1.10 S5.api.4]', async () => {
  const texts = [full, twinPartner()].map(
    async (partner) => (await api('/api/events', await accessTokenOf(typical, partner))).text,
  );
  expect(await texts[0]).toBe(await texts[1]);
});
