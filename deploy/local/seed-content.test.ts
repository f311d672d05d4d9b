// What a --seed FILE may hold: much, since a local stack risks nothing, but nothing that R3 forbids.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { demoPeople } from './demo-people.ts';
import { openRunDirectory } from './run-directory.ts';
import { readNewSeed, rememberedSeed, rememberSeed } from './seed-memory.ts';

const run = openRunDirectory(mkdtempSync(join(tmpdir(), 'course-exchange-seed-')));
afterAll(() => rmSync(run.home, { recursive: true }));

const partner = {
  name: 'Suite',
  clientId: 'suite',
  clientSecret: 's',
  redirectUris: ['https://suite.example/cb'],
  scopes: ['openid'],
};
const user = { email: 'u@example.org', password: 'p', sub: '1' };

function read(content: unknown, reset = false) {
  const seedFile = join(run.home, 'given.json');
  writeFileSync(seedFile, JSON.stringify(content));
  return readNewSeed(run, { seedFile, reset });
}

test('short secrets, any printable sub, any password and unknown fields are taken', () => {
  const read1 = read({
    partners: [{ ...partner, clientSecret: 'a b:c/+%', tier: 'gold' }],
    users: [{ ...user, sub: 'auth0|5f7c:1', password: ' ü ', role: 'admin' }],
    version: 3,
  });
  expect(read1?.partners).toEqual([{ ...partner, clientSecret: 'a b:c/+%', active: true }]);
  expect(read1?.people[0]).toMatchObject({ sub: 'auth0|5f7c:1', password: ' ü ', emailVerified: true });
});

test.each([
  [{ partners: [{ ...partner, clientSecret: '' }] }, 'partners[0].clientSecret must be 1 to 255'],
  [
    { partners: [{ ...partner, clientSecret: 'x'.repeat(256) }] },
    'partners[0].clientSecret must be 1 to 255',
  ],
  [{ users: [{ ...user, sub: 'a b' }] }, 'users[0].sub must be 1 to 255'],
  [{ users: [{ ...user, name: 'a\0b' }] }, 'users[0].name must be text'],
  [
    { partners: [{ ...partner, redirectUris: ['https://h/cb', 'https://h:99999/cb'] }] },
    'partners[0].redirectUris must be a list of redirect URIs that R3 allows. "https://h:99999/cb": Its host or port is not valid.',
  ],
  [
    { users: [{ ...user, email: demoPeople[0]?.email.toUpperCase() }] },
    'users[0].email "ANNA@EXAMPLE.COM" is that of a demo user: choose another one.',
  ],
])('a mistake is told in one sentence: %j', (content, sentence) => {
  expect(() => read(content)).toThrow(sentence);
});

test('a demo user may be given other facts under the same sub', () => {
  const [anna] = demoPeople;
  expect(read({ users: [{ ...anna, name: 'Another Anna' }] })?.people[0]?.name).toBe('Another Anna');
});

test('what was seeded is remembered for its owner alone, and its e-mails stay taken until --reset', () => {
  expect(rememberedSeed(run)).toEqual({ partners: [], people: [] });
  const seed = read({ users: [user] });
  openRunDirectory(run.data);
  rememberSeed(run, seed ?? { partners: [], people: [] });
  expect(rememberedSeed(run)).toEqual(seed);
  expect(statSync(run.seedFile).mode & 0o777).toBe(0o600);
  const other = { users: [{ ...user, sub: '2' }] };
  expect(() => read(other)).toThrow('is that of a user seeded before, with another sub');
  expect(read(other, true)?.people).toHaveLength(1);
});
