// Cookies of the session and of each interaction (R25.7, R29.6).
import { expect, test } from 'vitest';
import { createCookies } from './cookies.ts';

const plain = createCookies('http://127.0.0.1:8080');
const secure = createCookies('https://exchange.example');

test('they are bound to the host where the issuer is https', () => {
  expect(secure.setSession('s')).toContain(
    '__Host-course-exchange-session=s; Path=/; HttpOnly; SameSite=Lax; Secure',
  );
  expect(plain.setSession('s')).toEqual(['course-exchange-session=s; Path=/; HttpOnly; SameSite=Lax']);
  expect(secure.session('course-exchange-session=forged; session=forged')).toBe('');
});

test('version 0.1.0 beside this one finds sessions and devices, and what it set is its last word', () => {
  const cookies = [secure.setSession('s'), secure.setDevice('d'), secure.setInteraction('id', 'i', 60)];
  const set = cookies.flat().map((cookie) => cookie.split('=')[0]);
  expect(set).toEqual(expect.arrayContaining(['__Host-session', '__Host-device', '__Host-interaction-id']));
  expect(secure.session('__Host-course-exchange-session=ours; __Host-session=its')).toBe('its');
  expect(secure.session('__Host-session=its')).toBe('its');
  expect(secure.device('__Host-device=its')).toBe('its');
  expect(secure.interaction('__Host-interaction-id=its', 'id')).toBe('its');
  expect(secure.clearSession().map((cookie) => cookie.split('=')[0])).toContain('__Host-session');
});

test('over http a name that may be another program’s is read last, and neither set nor cleared', () => {
  expect(plain.session('session=flask; course-exchange-session=ours')).toBe('ours');
  expect(plain.session('session=of-version-0.1.0')).toBe('of-version-0.1.0');
  const set = [plain.setSession('s'), plain.setDevice('d'), plain.setInteraction('id', 'i', 60)];
  const all = [...set.flat(), ...plain.clearSession()];
  for (const cookie of all) expect(cookie).toMatch(/^course-exchange-/);
});

test('the cookie of an interaction has its life, that of the session the browser’s', () => {
  expect(plain.setInteraction('id', 'b', 1800)).toEqual([
    'course-exchange-interaction-id=b; Max-Age=1800; Path=/; HttpOnly; SameSite=Lax',
  ]);
  expect(plain.setSession('s').join()).not.toContain('Max-Age');
  expect(plain.setDevice('d').join()).toContain('device=d; Max-Age=2592000;');
});

test('each interaction has a separate cookie; the first of two with one name counts', () => {
  const header = 'course-exchange-interaction-a=1; interaction-b=2; course-exchange-interaction-a=3';
  expect([...'abc'].map((id) => plain.interaction(header, id))).toEqual(['1', '2', '']);
});

const many = (count: number, beginning: string) =>
  Array.from({ length: count }, (_, nth) => `${beginning}i${nth}=b`).join('; ');
const namesOf = (cookies: readonly string[]) => cookies.map((cookie) => cookie.split('=')[0]);

test('at most sixteen are kept with a new interaction; the oldest go', () => {
  const own = 'course-exchange-interaction-';
  const presented = `${many(18, own)}; ${many(18, 'interaction-')}`;
  const cleared = namesOf(plain.clearSurplusInteractions(presented, 'start'));
  expect(cleared).toEqual([`${own}i0`, `${own}i1`, `${own}i2`]);
  expect(plain.clearSurplusInteractions(many(15, own), 'start')).toEqual([]);
  expect(plain.clearSurplusInteractions(many(31, own), 'again')).toEqual([]);
  expect(plain.clearSurplusInteractions(many(32, own), 'again')).toHaveLength(1);
});

test('an answer has at most 16 Set-Cookie lines, those of a new interaction included', () => {
  const presented = `${many(90, '__Host-interaction-')}; ${many(90, '__Host-course-exchange-interaction-')}`;
  const set = secure.setInteraction('id', 'i', 60);
  expect([...secure.clearSurplusInteractions(presented, 'start'), ...set]).toHaveLength(16);
});

test('sixteen interactions of both versions leave room in a header section of 16 KiB', () => {
  const all = Array.from({ length: 16 }, () => secure.setInteraction('i'.repeat(22), 'b'.repeat(43), 60));
  const sent = all.flat().map((cookie) => cookie.split(';')[0]);
  expect(sent.join('; ').length).toBeLessThan(3_200);
});

test.each(['session', 'device', 'interaction-i'])('a browser that sends %s keeps cookies', (name) => {
  for (const cookies of [plain, secure]) {
    const own = cookies === secure ? '__Host-' : '';
    for (const header of [`a=b; ${own}${name}=x`, `${own}course-exchange-${name}=x`])
      expect(cookies.sendsAny(header), header).toBe(true);
  }
  for (const header of [undefined, '', 'sessions=x', `${name}=`, `x${name}=y`, '__Host-interaction=x'])
    expect(plain.sendsAny(header), header).toBe(false);
  expect(secure.sendsAny(`${name}=x; course-exchange-${name}=x`)).toBe(false);
});

test('a cookie that we did not set is ignored', () => {
  for (const header of [undefined, '', ';;;', '=x', 'session', 'session="quoted"', 'session=a b'])
    expect(plain.session(header)).toBe('');
});
