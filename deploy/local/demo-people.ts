// The demo users, the same at every run. Their passwords are public: they open local demo data alone.
import { createHash } from 'node:crypto';
import type { Person } from './seed-form.ts';

function person(
  handle: string,
  name: string,
  about: string,
  state: Pick<Person, 'emailVerified' | 'disabled'> = {},
): Person {
  return {
    email: `${handle}@example.com`,
    password: `demo-${handle}-password`,
    // Opaque like a random one (R19), yet the same at every run.
    sub: createHash('sha256').update(`course-exchange demo user ${handle}`).digest('base64url').slice(0, 22),
    name,
    about,
    ...state,
  };
}

export const people = {
  typical: person('anna', 'Anna Lindqvist', 'typical season: 12 events with 150 designs'),
  shares: person(
    'ben',
    'Ben Okafor',
    'shares a stored event identifier with Anna, beside an event of his own',
  ),
  none: person('carla', 'Carla Moreau', 'no designs at all'),
  eventless: person('david', 'David Novák', 'designs without event only'),
  deleted: person('elena', 'Elena Petrova', 'one event whose designs are all deleted'),
  large: person('farid', 'Farid Haddad', 'an event of 730 designs'),
  huge: person('grace', 'Grace Whitfield', '2,000 events with 50,000 designs'),
  nulls: person('hugo', 'Hugo Bernard', 'null fields: every nullable field of his designs is null'),
  disabled: person('ines', 'Inês Carvalho', 'disabled account: cannot log in', { disabled: true }),
  unverified: person('jonas', 'Jonas Becker', 'unverified e-mail, one small event', { emailVerified: false }),
  japanese: person('kenji', '山本 健二', 'name in Japanese script, one small event'),
  arabic: person('layla', 'ليلى المنصوري', 'name in Arabic script, one small event'),
  greek: person('nikos', 'Νίκος Παπαδόπουλος', 'name in Greek script, one small event'),
  cyrillic: person('oksana', 'Оксана Шевченко', 'name in Cyrillic script, one small event'),
  devanagari: person('priya', 'प्रिया शर्मा 🐎', 'name in Devanagari script with an emoji, one small event'),
} as const satisfies Readonly<Record<string, Person>>;

export const demoPeople: readonly Person[] = Object.values(people);
