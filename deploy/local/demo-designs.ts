// The demo users' course designs, the same at every run: made from fixed words by a seeded generator, with
// dates around one fixed day.
import { createHash } from 'node:crypto';
import { demoUsers } from './demo-accounts.ts';

/** One design as the catalog's feed takes it. Times are ISO 8601 in UTC; `eventId` is the stored one (R22). */
export type DemoDesign = Readonly<
  Record<'id' | 'owner' | 'title' | 'eventName' | 'shortDescr', string> &
    Record<'localId' | 'eventId' | 'eventDate' | 'updatedAt' | 'authorName' | 'deletedAt', string | null>
>;

const shows: readonly string[] = [
  'Falsterbo Horse Show',
  'Windsor Spring Meeting',
  'Aachen Summer Jumping',
  'Grand Prix de Deauville',
  'Sopot Riviera Cup',
  'Kilkenny Agricultural Show',
  'Lake Arena Ebreichsdorf',
  'Ostuni Olive Tour',
  'Vejer Sunshine Tour',
  'Tryon Fall Classic',
  'Spruce Meadows Masters',
  'Oslo Winter Indoor',
];

const classes: readonly string[] = [
  'Two-phase 1.20 m',
  'Speed class 1.30 m, table C',
  'Grand Prix 1.50 m with jump-off',
  'Six-year-old horses 1.25 m',
  'Youngster tour final',
  'Amateur 1.10 m against the clock',
  'Accumulator with joker 1.35 m',
  'Derby over natural obstacles',
  'Nations Cup, round A',
];

const venues: readonly string[] = [
  'main arena, grass',
  'main arena, sand',
  'indoor hall 60 × 30 m',
  'arena 2',
];

const notes: readonly string[] = [
  '13 obstacles, 15 efforts',
  '11 obstacles, 12 efforts, time allowed 68 s',
  'open water at 7, triple at 9',
  'short combination after the turn',
  'jump-off over 1, 2, 5a, 8, 10',
];

interface DemoEvent {
  readonly id: string | null;
  readonly name: string;
  /** Days after the first day of the season. */
  readonly day: number;
}

type Owner = { readonly sub: string; readonly name: string };

const dayMs = 86_400_000;
const seasonStart = Date.parse('2026-03-05T00:00:00.000Z');

/** Two users' designs carry this same stored identifier: each sees the own ones alone. */
const shared: DemoEvent = { id: 'show-2026-gothenburg-spring', name: 'Göteborg Spring Tour', day: 10 };

export function* demoDesigns(): Generator<DemoDesign> {
  yield* typicalSeason();
  yield* event(demoUsers.shares, shared, 8);
  yield* event(demoUsers.shares, { id: 'show-2026-lagos-open', name: 'Lagos Open', day: 52 }, 6);
  yield* event(demoUsers.eventless, { id: null, name: '', day: 20 }, 7);
  yield* event(demoUsers.eventless, { id: '', name: 'Training at home', day: 27 }, 4);
  for (const design of event(demoUsers.deleted, { id: 'show-2026-sofia-cup', name: 'Sofia Cup', day: 60 }, 9))
    yield { ...design, deletedAt: at(61, 9, 0) };
  yield* event(demoUsers.large, { id: 'show-2026-festival', name: 'Festival of the Horse', day: 75 }, 730);
  yield* manyEvents();
  yield* nulls();
  for (const [index, owner] of smallSeasons.entries())
    yield* event(owner, eventOf(shows[index + 3] ?? 'Summer Show', index + 3), 5);
}

const smallSeasons: readonly Owner[] = [
  demoUsers.unverified,
  demoUsers.disabled,
  demoUsers.japanese,
  demoUsers.arabic,
  demoUsers.greek,
  demoUsers.cyrillic,
  demoUsers.devanagari,
];

/** 12 events with 150 designs in them, and some that must not be seen: without event, and deleted. */
function* typicalSeason(): Generator<DemoDesign> {
  yield* event(demoUsers.typical, shared, 18);
  for (const [index, name] of shows.slice(0, 11).entries())
    yield* event(demoUsers.typical, eventOf(name, index), 12);
  yield* event(demoUsers.typical, { id: null, name: 'Ideas', day: 5 }, 3, 'ideas');
  for (const design of event(demoUsers.typical, eventOf(shows[0] ?? '', 0), 4, 'dropped'))
    yield { ...design, deletedAt: at(40, 18, 0) };
}

/** So many events of twelve designs each, for a user whom a file names. */
export function* seasonOf(owner: Owner, events: number): Generator<DemoDesign> {
  for (let index = 0; index < events; index += 1) {
    const show = shows[index % shows.length] ?? '';
    const edition = 1 + Math.floor(index / shows.length);
    yield* event(owner, eventOf(edition === 1 ? show : `${show} ${edition}`, index % 24), 12);
  }
}

/** 2,000 events of 25 designs. */
function* manyEvents(): Generator<DemoDesign> {
  for (let index = 0; index < 2_000; index += 1) {
    const name = `${shows[index % shows.length]} ${1 + Math.floor(index / shows.length)}`;
    yield* event(
      demoUsers.huge,
      { id: `archive-${String(index).padStart(5, '0')}`, name, day: index % 300 },
      25,
    );
  }
}

function* nulls(): Generator<DemoDesign> {
  const absent = { localId: null, eventDate: null, updatedAt: null, authorName: null };
  for (const design of event(demoUsers.nulls, { id: 'undated', name: '', day: 0 }, 3))
    yield { ...design, ...absent, title: '', shortDescr: '' };
}

function eventOf(name: string, index: number): DemoEvent {
  const slug = name
    .normalize('NFD')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase();
  return { id: `show-2026-${slug}`, name, day: 12 + index * 14 };
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

function at(day: number, hour: number, minute: number, milliseconds = 0): string {
  return new Date(
    seasonStart + day * dayMs + hour * 3_600_000 + minute * 60_000 + milliseconds,
  ).toISOString();
}
