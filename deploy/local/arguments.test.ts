// The command line of the local stack: each mistake is one sentence that a person can act on.
import { expect, test } from 'vitest';
import { parseCommand } from './arguments.ts';

test.each([
  ['--frobnicate', 'There is no option --frobnicate.'],
  ['-x', 'There is no option -x.'],
  ['--port', '--port expects a value.'],
  ['--detach=yes', '--detach takes no value.'],
  ['--port=abc', '--port expects a whole number from 0 to 65535.'],
  ['--issuer=http://login.example', '--issuer expects https: plain http is for this machine alone.'],
  ['--issuer=https://login.example/', '--issuer expects an address such as https://login.example'],
  ['twice', '"twice" is not expected.'],
])('start %s is refused with one sentence and a hint at --help', (word, sentence) => {
  expect(() => parseCommand(['start', word])).toThrow(sentence);
  expect(() => parseCommand(['start', word])).toThrow(/ All options: npx --yes pnpm@12 start --help$/);
});

test('an issuer on this machine may be plain http', () => {
  for (const issuer of ['http://127.0.0.1:8080', 'http://localhost:1', 'http://[::1]:1', 'https://a.example'])
    expect(parseCommand(['start', '--issuer', issuer])).toMatchObject({ options: { issuer } });
});
