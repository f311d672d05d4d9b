// What a --seed FILE may hold: much, since a local stack risks nothing, but nothing that R3 forbids.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { allDemoUsers } from './demo-accounts.ts';
import { openRunDirectory, writeWhole } from './run-directory.ts';
import { readNewSeed, rememberedSeed } from './seed-content.ts';

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
  const seed = join(run.home, 'given.json');
  writeFileSync(seed, JSON.stringify(content));
  return readNewSeed(run, { seed, reset });
}

test('short secrets, any printable sub, any password and unknown fields are taken', () => {
  const read1 = read({
    partners: [{ ...partner, clientSecret: 'a b:c/+%', tier: 'gold' }],
    users: [{ ...user, sub: 'auth0|5f7c:1', password: ' ü ', role: 'admin' }],
    version: 3,
  });
  expect(read1?.partners).toEqual([{ ...partner, clientSecret: 'a b:c/+%', active: true }]);
  expect(read1?.users[0]).toMatchObject({ sub: 'auth0|5f7c:1', password: ' ü ', emailVerified: true });
});

test.each([
  [{ partners: [{ ...partner, clientSecret: '' }] }, 'partners[0].clientSecret must be 1 to 255'],
  [
    { partners: [{ ...partner, clientSecret: 'x'.repeat(256) }] },
    'partners[0].clientSecret must be 1 to 255',
  ],
  [{ users: [{ ...user, sub: 'a b' }] }, 'users[0].sub must be 1 to 255'],
  [{ users: [{ ...user, name: 'a\0b' }] }, 'users[0].name must be text'],
  [{ users: [{ ...user, events: 1.5 }] }, 'users[0].events must be a whole number from 0 to 1000'],
  [
    { partners: [{ ...partner, redirectUris: ['https://h/cb', 'https://h:99999/cb'] }] },
    'partners[0].redirectUris[1] "https://h:99999/cb": Its host or port is not valid.',
  ],
  [
    { users: [{ ...user, email: allDemoUsers[0]?.email.toUpperCase() }] },
    'users[0].email "ANNA@EXAMPLE.COM" is that of a demo user: choose another one.',
  ],
])('a mistake is told in one sentence: %j', (content, sentence) => {
  expect(() => read(content)).toThrow(sentence);
});

test('a demo user may be given other facts under the same sub', () => {
  const [anna] = allDemoUsers;
  expect(read({ users: [{ ...anna, name: 'Another Anna' }] })?.users[0]?.name).toBe('Another Anna');
});

test('what was seeded is remembered for its owner alone, and its e-mails stay taken until --reset', () => {
  expect(rememberedSeed(run)).toEqual({ partners: [], users: [] });
  const seed = read({ users: [user] });
  openRunDirectory(run.data);
  writeWhole(run.seedFile, seed);
  expect(rememberedSeed(run)).toEqual(seed);
  expect(statSync(run.seedFile).mode & 0o777).toBe(0o600);
  const other = { users: [{ ...user, sub: '2' }] };
  expect(() => read(other)).toThrow('is that of a user seeded before, with another sub');
  expect(read(other, true)?.users).toHaveLength(1);
});
