// The demo users and partners, the same at every run. Their passwords and secrets are public: they open local demo data
// alone.
import { createHash } from 'node:crypto';
import type { Partner, SeedUser } from './seed-file.ts';

function user(handle: string, name: string, about: string, state: Partial<SeedUser> = {}): SeedUser {
  return {
    email: `${handle}@example.com`,
    password: `demo-${handle}-password`,
    // Opaque like a random one (R19), yet the same at every run.
    sub: createHash('sha256').update(`course-exchange demo user ${handle}`).digest('base64url').slice(0, 22),
    name,
    about,
    emailVerified: true,
    disabled: false,
    ...state,
  };
}

export const demoUsers = {
  typical: user('anna', 'Anna Lindqvist', 'typical season: 12 events with 150 designs'),
  shares: user('ben', 'Ben Okafor', 'shares a stored event identifier with Anna, beside an event of his own'),
  none: user('carla', 'Carla Moreau', 'no designs at all'),
  eventless: user('david', 'David Novák', 'designs without event only'),
  deleted: user('elena', 'Elena Petrova', 'one event whose designs are all deleted'),
  large: user('farid', 'Farid Haddad', 'an event of 730 designs'),
  huge: user('grace', 'Grace Whitfield', '2,000 events with 50,000 designs'),
  nulls: user('hugo', 'Hugo Bernard', 'null fields: every nullable field of his designs is null'),
  disabled: user('ines', 'Inês Carvalho', 'disabled account: cannot log in', { disabled: true }),
  unverified: user('jonas', 'Jonas Becker', 'unverified e-mail, one small event', { emailVerified: false }),
  japanese: user('kenji', '山本 健二', 'name in Japanese script, one small event'),
  arabic: user('layla', 'ليلى المنصوري', 'name in Arabic script, one small event'),
  greek: user('nikos', 'Νίκος Παπαδόπουλος', 'name in Greek script, one small event'),
  cyrillic: user('oksana', 'Оксана Шевченко', 'name in Cyrillic script, one small event'),
  devanagari: user('priya', 'प्रिया शर्मा 🐎', 'name in Devanagari script with an emoji, one small event'),
} as const satisfies Readonly<Record<string, SeedUser>>;

export const allDemoUsers: readonly SeedUser[] = Object.values(demoUsers);

const allScopes: Partner['scopes'] = ['openid', 'email', 'profile'];
/** Nothing of ours listens here: for clients under test, which look at the redirect alone. */
const silentCallback = 'http://127.0.0.1:9099/callback';

function partner(
  clientId: string,
  name: string,
  scopes = allScopes,
  redirectUris: Partner['redirectUris'] = [silentCallback],
  active = true,
): Partner {
  /** 256 bits, the same at every run. */
  const secret = createHash('sha256').update(`course-exchange demo secret of ${clientId}`);
  const clientSecret = secret.digest('base64url');
  return { name, clientId, clientSecret, redirectUris, scopes, active };
}

/** The registration of the demo partner that runs at `url`. */
export function demoPartner(url: string): Partner {
  return partner('paddock-planner', 'Paddock Planner', allScopes, [`${url}/callback`, silentCallback]);
}

/** `demoPartnerUrl` is where the demo partner runs this time. */
export function demoPartners(demoPartnerUrl: string): readonly Partner[] {
  return [
    demoPartner(demoPartnerUrl),
    partner('ringside-results', 'Ringside Results'),
    partner('course-walk', 'Course Walk', ['openid']),
    partner('show-newsletter', 'Show Newsletter', ['email', 'profile']),
    partner('old-entries', 'Old Entries (closed)', allScopes, [silentCallback], false),
    partner(
      'stable-diary',
      'Stable Diary',
      ['openid', 'profile'],
      [silentCallback, 'http://127.0.0.1:9099/second/callback'],
    ),
  ];
}
