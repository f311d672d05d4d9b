// The local stack takes and refuses the redirect URIs that the identity service takes and refuses (R3).
import { expect, test } from 'vitest';
import { registrationMistake } from '../../services/identity/src/domain/redirect-uri.ts';
import { redirectUriMistake } from './redirect-uri.ts';

const good = [
  'https://partner.example/callback',
  'https://partner.example',
  'https://partner.example:8443/a/b.c',
  'http://localhost/cb',
  'http://localhost:3000',
  'http://127.0.0.1:9099/callback',
  'http://[::1]:1/cb',
];
const bad = [
  '',
  'callback',
  'https://',
  'https:///cb',
  'https://h/%2e%2e/cb',
  'https://h/../cb',
  'https://h/a/./cb',
  'https://h/.%2E',
  'https://h:99999/cb',
  'https://h:port/cb',
  'https://h%40e/',
  'https://user@h/cb',
  'https://h/cb?x=1',
  'https://h/cb#x',
  'https://*.example/cb',
  'https://h\\e/cb',
  'https://h/c b',
  'https://hé/cb',
  'http://partner.example/cb',
  'http://localhost.example/cb',
  'custom:/cb',
  'HTTPS://h/cb',
];

test.each(good)('%s is taken (R3)', (uri) => {
  expect(redirectUriMistake(uri)).toBeUndefined();
});

test.each(bad)('"%s" is refused with a sentence (R3)', (uri) => {
  expect(redirectUriMistake(uri)).toMatch(/\.$/);
});

test.each([...good, ...bad])('the identity service says the same about "%s" (R3)', (uri) => {
  expect(redirectUriMistake(uri)).toBe(registrationMistake(uri, { allowHttpLoopback: true }));
});
