// What `start` refuses, each mistake in a sentence that a person can act on: on its command line, in a --seed FILE, which may
// hold nothing that R3.2 forbids, and where its sockets would lie.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startCommand } from './arguments.ts';
import { openRunDirectory } from './run-directory.ts';
import { readSeedFile } from './seed-file.ts';

const parse = (word: string) =>
  startCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .parse([word], { from: 'user' });

test.each([
  ['--port=abc', 'It expects a whole number from 0 to 65535.'],
  ['--issuer=http://login.example', 'It expects https: plain http is for this machine alone.'],
  ['--issuer=https://login.example/', 'It expects an address such as https://login.example'],
])('start %s is refused with one sentence', (word, sentence) => {
  expect(() => parse(word)).toThrow(sentence);
});

test('an issuer on this machine may be plain http', () => {
  for (const issuer of ['http://127.0.0.1:8080', 'http://localhost:1', 'http://[::1]:1', 'https://a.example'])
    expect(parse(`--issuer=${issuer}`).opts()).toMatchObject({ issuer });
});

const home = mkdtempSync(join(tmpdir(), 'course-exchange-start-'));
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

test('a link that replaces the short directory is not followed', () => {
  const long = join(home, 'x'.repeat(100));
  const { sockets } = openRunDirectory(long);
  onTestFinished(() => rmSync(sockets, { recursive: true, force: true }));
  rmSync(sockets, { recursive: true });
  symlinkSync(home, sockets);
  expect(() => openRunDirectory(long)).toThrow(`${sockets} is no directory of this account`);
});
