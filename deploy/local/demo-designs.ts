// The demo users' course designs, the same at every run: made from fixed words by a seeded generator, with
// dates around one fixed day.
import { createHash } from 'node:crypto';
import { demoUsers } from './demo-accounts.ts';

/** One design as the catalog's feed takes it. Times are ISO 8601 in UTC; `eventId` is the stored one (R22.8). */
export type DemoDesign = Readonly<
  Record<'id' | 'owner' | 'title' | 'eventName' | 'shortDescr', string> &
    Record<'localId' | 'eventId' | 'eventDate' | 'updatedAt' | 'authorName' | 'deletedAt', string | null>
>;

const shows: readonly string[] = [
  'Falsterbo Horse Show',
  'Windsor Spring Meeting',
  'Grand Prix de Deauville',
  'Ostuni Olive Tour',
];
const classes: readonly string[] = ['Two-phase 1.20 m', 'Speed class 1.30 m, table C', 'Grand Prix 1.50 m'];
const venues: readonly string[] = ['main arena, grass', 'indoor hall 60 × 30 m'];
const notes: readonly string[] = ['13 obstacles, 15 efforts', 'open water at 7, triple at 9'];

interface DemoEvent {
  readonly id: string | null;
  readonly name: string;
  /** Days after the first day of the season. */
  readonly day: number;
}

type Owner = { readonly sub: string; readonly name: string };

/** Two users' designs have this stored identifier: each user sees only their own. */
const shared: DemoEvent = { id: 'show-2026-gothenburg-spring', name: 'Göteborg Spring Tour', day: 10 };

export function* demoDesigns(): Generator<DemoDesign> {
  yield* typicalSeason();
  yield* event(demoUsers.shares, shared, 8);
  yield* event(demoUsers.shares, { id: 'show-2026-lagos-open', name: 'Lagos Open', day: 52 }, 6);
  yield* event(demoUsers.eventless, { id: null, name: '', day: 20 }, 7);
  yield* event(demoUsers.eventless, { id: '', name: 'Training at home', day: 27 }, 4);
  yield* deleted(event(demoUsers.deleted, { id: 'show-2026-sofia-cup', name: 'Sofia Cup', day: 60 }, 9));
  yield* event(demoUsers.large, { id: 'show-2026-festival', name: 'Festival of the Horse', day: 75 }, 730);
  yield* seasonOf(demoUsers.huge, 2_000, 25);
  yield* nulls();
  const { unverified, disabled, japanese, arabic, greek, cyrillic, devanagari } = demoUsers;
  const few = [unverified, disabled, japanese, arabic, greek, cyrillic, devanagari];
  for (const owner of few) yield* seasonOf(owner, 1, 5);
}

/** 12 events with 150 designs in them, and some that must not be seen: without event, and deleted. */
function* typicalSeason(): Generator<DemoDesign> {
  yield* event(demoUsers.typical, shared, 18);
  yield* seasonOf(demoUsers.typical, 11);
  yield* event(demoUsers.typical, { id: null, name: 'Ideas', day: 5 }, 3);
  yield* deleted(event(demoUsers.typical, eventOf(0), 4, 'dropped'));
}

export function* seasonOf(owner: Owner, events: number, designs = 12): Generator<DemoDesign> {
  for (let index = 0; index < events; index += 1) yield* event(owner, eventOf(index), designs);
}

function* deleted(designs: Iterable<DemoDesign>): Generator<DemoDesign> {
  for (const design of designs) yield { ...design, deletedAt: at(61, 9, 0) };
}

function* nulls(): Generator<DemoDesign> {
  const absent = { localId: null, eventDate: null, updatedAt: null, authorName: null };
  for (const design of event(demoUsers.nulls, { id: 'undated', name: '', day: 0 }, 3))
    yield { ...design, ...absent, title: '', shortDescr: '' };
}

function eventOf(index: number): DemoEvent {
  const edition = 1 + Math.floor(index / shows.length);
  const name = `${shows[index % shows.length]} ${edition}`;
  const slug = name.replaceAll(' ', '-').toLowerCase();
  return { id: `show-2026-${slug}`, name, day: 12 + (index % 24) * 14 };
}

function* event(
  owner: Owner,
  { id, name, day }: DemoEvent,
  count: number,
  series = '',
): Generator<DemoDesign> {
  for (let index = 0; index < count; index += 1) {
    const key = `${owner.sub}/${id}/${name}/${series}/${index}`;
    const seed = createHash('sha256').update(key).digest();
    const number = (byte: number, below: number) => (seed[byte] ?? 0) % below;
    const pick = (words: readonly string[], byte: number) => words[number(byte, words.length)] ?? '';
    const showDay = day + (index % 4);
    yield {
      id: seed.toString('hex').slice(0, 24),
      owner: owner.sub,
      localId: `local-${seed.readUInt32BE(24)}`,
      eventId: id,
      title: `${index + 1}. ${pick(classes, 0)}`,
      eventName: name,
      eventDate: at(showDay, 0, 0),
      updatedAt: at(showDay - 1 - number(1, 4), 7 + number(2, 14), number(3, 60), index),
      authorName: owner.name,
      shortDescr: `${pick(venues, 4)}, ${pick(notes, 5)}`,
      deletedAt: null,
    };
  }
}

/** The first day of the season, day 0, is 5 March 2026. */
function at(day: number, hour: number, minute: number, milliseconds = 0): string {
  return new Date(Date.UTC(2026, 2, 5 + day, hour, minute, 0, milliseconds)).toISOString();
}
