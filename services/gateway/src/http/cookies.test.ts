// Cookies of the session and of each interaction (R25.7, R29.6).
import { expect, test } from 'vitest';
import { createCookies } from './cookies.ts';

const plain = createCookies('http://127.0.0.1:8080');
const secure = createCookies('https://exchange.example');

test('they are bound to the host where the issuer is https', () => {
  expect(secure.setSession('s')).toBe('__Host-session=s; Path=/; HttpOnly; SameSite=Lax; Secure');
  expect(plain.setSession('s')).toBe('session=s; Path=/; HttpOnly; SameSite=Lax');
  expect(secure.session('session=forged')).toBe('');
});

test('the cookie of an interaction has its life, that of the session the browser’s', () => {
  expect(plain.setInteraction('id', 'b', 1800)).toContain('interaction-id=b; Max-Age=1800;');
  expect(plain.setSession('s')).not.toContain('Max-Age');
  expect(plain.setDevice('d')).toContain('device=d; Max-Age=2592000;');
});

test('each interaction has a separate cookie; the first of two with one name counts', () => {
  const header = 'interaction-a=1; interaction-b=2; interaction-a=3; session=x';
  expect([...'abc'].map((id) => plain.interaction(header, id))).toEqual(['1', '2', '']);
});

test('at most eight are kept with a new interaction; the oldest go', () => {
  const presented = Array.from({ length: 10 }, (_, index) => `interaction-i${index}=b`).join('; ');
  const cleared = plain.clearSurplusInteractions(presented).map((cookie) => cookie.split('=')[0]);
  expect(cleared).toEqual(['interaction-i0', 'interaction-i1', 'interaction-i2']);
  expect(plain.clearSurplusInteractions('interaction-a=b')).toEqual([]);
});

test('a cookie that we did not set is ignored', () => {
  for (const header of [undefined, '', ';;;', '=x', 'session', 'session="quoted"', 'session=a b'])
    expect(plain.session(header)).toBe('');
});
