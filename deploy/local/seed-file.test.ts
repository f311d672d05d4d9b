// What a --seed FILE may hold: much, since a local stack risks nothing, but nothing that R3 forbids.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readSeedFile } from './seed-file.ts';

const home = mkdtempSync(join(tmpdir(), 'course-exchange-seed-'));
afterAll(() => rmSync(home, { recursive: true }));

const partner = {
  name: 'Suite',
  clientId: 'suite',
  clientSecret: 's',
  redirectUris: ['https://suite.example/cb'],
  scopes: ['openid'],
};
const user = { email: 'u@example.org', password: 'p', sub: '1' };

function read(content: unknown) {
  const file = join(home, 'given.json');
  writeFileSync(file, JSON.stringify(content));
  return readSeedFile(file);
}

test('short secrets, any printable sub, any password and unknown fields are taken', () => {
  const { partners, users } = read({
    partners: [{ ...partner, clientSecret: 'a b:c/+%', tier: 'gold' }],
    users: [{ ...user, sub: 'auth0|5f7c:1', password: ' ü ', role: 'admin' }],
    version: 3,
  });
  expect(partners).toEqual([{ ...partner, clientSecret: 'a b:c/+%', active: true }]);
  expect(users[0]).toMatchObject({ sub: 'auth0|5f7c:1', password: ' ü ', emailVerified: true });
});

test.each([
  ['partners[0].clientSecret', { partners: [{ ...partner, clientSecret: 'x'.repeat(256) }] }],
  ['users[0].sub', { users: [{ ...user, sub: 'a b' }] }],
  ['users[0].name', { users: [{ ...user, name: 'a\0b' }] }],
  ['users[0].events', { users: [{ ...user, events: 1.5 }] }],
  ['a clientId comes twice', { partners: [partner, partner] }],
  ['a sub comes twice', { users: [user, { ...user, email: 'other@example.org' }] }],
  ['an e-mail address comes twice', { users: [user, { ...user, sub: '2' }] }],
  ['Its host or port is not valid.', { partners: [{ ...partner, redirectUris: ['https://h:99999/cb'] }] }],
])('a mistake is named: %s', (sentence, content) => {
  expect(() => read(content)).toThrow(sentence);
});
