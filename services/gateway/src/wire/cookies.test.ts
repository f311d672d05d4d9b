// Cookies of the session and of each transaction (R25, R29).
import { expect, test } from 'vitest';
import { createCookies } from './cookies.ts';

const plain = createCookies('http://127.0.0.1:8080');
const secure = createCookies('https://exchange.example');

test('they are bound to the host where the issuer is https', () => {
  expect(secure.setSession('s')).toBe('__Host-session=s; Path=/; HttpOnly; SameSite=Lax; Secure');
  expect(plain.setSession('s')).toBe('session=s; Path=/; HttpOnly; SameSite=Lax');
  expect(secure.session('session=forged')).toBe('');
});

test('a binding lives as long as its transaction, the session as long as the browser', () => {
  expect(plain.setBinding('id', 'b', 1800)).toContain('interaction-id=b; Max-Age=1800;');
  expect(plain.setSession('s')).not.toContain('Max-Age');
});

test('each transaction has a cookie of its own; of two of one name the first counts', () => {
  const header = 'interaction-a=1; interaction-b=2; interaction-a=3; session=x';
  expect([plain.binding(header, 'a'), plain.binding(header, 'b'), plain.binding(header, 'c')]).toEqual([
    '1',
    '2',
    '',
  ]);
});

test('with a new binding at most eight are kept; the oldest go', () => {
  const presented = Array.from({ length: 10 }, (_, index) => `interaction-i${index}=b`).join('; ');
  const cleared = plain.clearSurplusBindings(presented).map((cookie) => cookie.split('=')[0]);
  expect(cleared).toEqual(['interaction-i0', 'interaction-i1', 'interaction-i2']);
  expect(plain.clearSurplusBindings('interaction-a=b')).toEqual([]);
});

test('what we did not set is ignored', () => {
  for (const header of [undefined, '', ';;;', '=x', 'session', 'session="quoted"', 'session=a b'])
    expect(plain.session(header)).toBe('');
});
