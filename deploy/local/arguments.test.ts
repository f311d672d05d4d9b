// The command line of the local stack: each mistake is one sentence that a person can act on.
import { expect, test } from 'vitest';
import { startCommand } from './arguments.ts';

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
