// A client is known by its header once a service has accepted it, and by no name before (R14.7).
import { expect, test } from 'vitest';
import { createProvenClients } from './proven-clients.ts';

const header = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

test('a header names the client that a service has found, whatever else was refused, and no other header does', () => {
  const proven = createProvenClients();
  const [secret, other, guessed] = [header('a:right'), header('b:right'), header('a:wrong')];
  expect(proven.clientOf(secret)).toBeUndefined();
  proven.judged(secret, 'a', 200);
  proven.judged(other, 'b', 400);
  proven.judged(guessed, undefined, 400);
  expect([secret, other, guessed, undefined].map(proven.clientOf)).toEqual(['a', 'b', undefined, undefined]);
});

test('a secret that was retired and a token that has expired have nobody’s share any more', () => {
  const proven = createProvenClients();
  for (const [secret, client] of [
    [header('partner:retired'), undefined],
    [header('partner:expired'), 'partner'],
  ] as const) {
    proven.judged(secret, 'partner', 200);
    proven.judged(secret, client, 401);
    expect(proven.clientOf(secret)).toBeUndefined();
  }
});

test('the headers that are remembered are bounded: the one not used for longest is forgotten', () => {
  const proven = createProvenClients();
  for (let i = 0; i < 20_000; i += 1) proven.judged(header(`${i}:secret`), `client-${i}`, 200);
  expect(proven.clientOf(header('0:secret'))).toBe('client-0');
  proven.judged(header('20000:secret'), 'client-20000', 200);
  expect([0, 1, 20_000].map((i) => proven.clientOf(header(`${i}:secret`)))).toEqual([
    'client-0',
    undefined,
    'client-20000',
  ]);
});
