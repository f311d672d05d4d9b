// The demo users' course designs, the same at every run: made from fixed words by a seeded generator, with
// dates around one fixed day.
import { createHash } from 'node:crypto';
import { people } from './demo-people.ts';
import { classes, notes, shows, venues } from './demo-words.ts';

/** One design as the catalog stores it. Times are ISO 8601 in UTC. */
export interface DemoDesign {
  readonly id: string;
  readonly owner: string;
  readonly localId: string | null;
  /** The stored identifier, not the public one (R22). */
  readonly eventId: string | null;
  readonly title: string;
  readonly eventName: string;
  readonly eventDate: string | null;
  readonly updatedAt: string | null;
  readonly authorName: string | null;
  readonly shortDescr: string;
  readonly deletedAt: string | null;
}

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
export const sharedEventId = 'show-2026-gothenburg-spring';

export function* demoDesigns(): Generator<DemoDesign> {
  yield* typicalSeason();
  yield* event(people.shares, { id: sharedEventId, name: 'Göteborg Spring Tour', day: 10 }, 8);
  yield* event(people.shares, { id: 'show-2026-lagos-open', name: 'Lagos Open', day: 52 }, 6);
  yield* event(people.eventless, { id: null, name: '', day: 20 }, 7);
  yield* event(people.eventless, { id: '', name: 'Training at home', day: 27 }, 4);
  for (const design of event(people.deleted, { id: 'show-2026-sofia-cup', name: 'Sofia Cup', day: 60 }, 9))
    yield { ...design, deletedAt: at(61, 9, 0) };
  yield* event(people.large, { id: 'show-2026-festival', name: 'Festival of the Horse', day: 75 }, 730);
  yield* manyEvents();
  yield* nulls();
  for (const [index, owner] of smallSeasons.entries())
    yield* event(owner, eventOf(shows[index + 3] ?? 'Summer Show', index + 3), 5);
}

const smallSeasons: readonly Owner[] = [
  people.unverified,
  people.disabled,
  people.japanese,
  people.arabic,
  people.greek,
  people.cyrillic,
  people.devanagari,
];

/** 12 events with 150 designs in them, and some that must not be seen: without event, and deleted. */
function* typicalSeason(): Generator<DemoDesign> {
  yield* event(people.typical, { id: sharedEventId, name: 'Göteborg Spring Tour', day: 10 }, 18);
  for (const [index, name] of shows.slice(0, 11).entries())
    yield* event(people.typical, eventOf(name, index), 12);
  yield* event(people.typical, { id: null, name: 'Ideas', day: 5 }, 3, 'ideas');
  for (const design of event(people.typical, eventOf(shows[0] ?? '', 0), 4, 'dropped'))
    yield { ...design, deletedAt: at(40, 18, 0) };
}

/** 2,000 events of 25 designs. */
function* manyEvents(): Generator<DemoDesign> {
  for (let index = 0; index < 2_000; index += 1) {
    const name = `${shows[index % shows.length]} ${1 + Math.floor(index / shows.length)}`;
    yield* event(
      people.huge,
      { id: `archive-${String(index).padStart(5, '0')}`, name, day: index % 300 },
      25,
    );
  }
}

function* nulls(): Generator<DemoDesign> {
  for (const design of event(people.nulls, { id: 'undated', name: '', day: 0 }, 3))
    yield {
      ...design,
      localId: null,
      title: '',
      eventDate: null,
      updatedAt: null,
      authorName: null,
      shortDescr: '',
    };
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
    const pick = <T>(words: readonly T[], byte: number): T => words[(seed[byte] ?? 0) % words.length] as T;
    const showDay = day + (index % 4);
    yield {
      id: seed.toString('hex').slice(0, 24),
      owner: owner.sub,
      localId: `local-${seed.readUInt32BE(24)}`,
      eventId: id,
      title: `${index + 1}. ${pick(classes, 0)}`,
      eventName: name,
      eventDate: at(showDay, 0, 0),
      updatedAt: at(
        showDay - 1 - (pick([0, 1, 2, 3], 1) as number),
        7 + ((seed[2] ?? 0) % 14),
        (seed[3] ?? 0) % 60,
        index,
      ),
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
