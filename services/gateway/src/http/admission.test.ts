// Admission with a clock of the test's: who has room, whose turn it is, and what the pace does to both (R14.7).

import { setTimeout as sleep } from 'node:timers/promises';
import { Overloaded } from '@course-exchange/runtime/process/errors';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { beforeEach, expect, test } from 'vitest';
import { type Admission, createAdmission, type Place, type Work } from './admission.ts';

let time: number;
let lines: string[];
let admission: Admission;
beforeEach(() => {
  time = 1_000_000;
  lines = [];
  const logger = createLogger('gateway', 'info', (line) => lines.push(line));
  admission = createAdmission({ logger, now: () => time });
});

/** Admits until one is refused. */
function fill(work: Work, address: string): Place[] {
  const places: Place[] = [];
  for (;;) {
    const place = admission.admit(work, address);
    if (place === undefined) return places;
    places.push(place);
  }
}

const present = () => false;
const begin = (place: Place, leftMs = 60_000) => place.turn(time + leftMs, present);
/** Lets resolved promises go on. */
const settle = () => new Promise(setImmediate);

/** `pieces` of work on a class that always has enough to do; one ends each `paceMs`. */
async function workAt(paceMs: number, work: Work, pieces: number): Promise<void> {
  const places: Place[] = [];
  for (let ended = 0; ended < pieces; ended += 1) {
    for (const place of [...fill(work, '192.0.2.1'), ...fill(work, '198.51.100.1')]) {
      places.push(place);
      void begin(place, 1e9).catch(() => {});
    }
    await settle();
    time += paceMs;
    places.shift()?.leave();
  }
  for (const place of places) place.leave();
  await settle();
}

test('one network has most of the room, others what is left, and no more is admitted', () => {
  const mine = fill('list', '192.0.2.1');
  expect(mine.length).toBeGreaterThan(16);
  // The same network: another address of its /24.
  expect(admission.admit('list', '192.0.2.77')).toBeUndefined();
  expect(fill('list', '198.51.100.1').length).toBeGreaterThan(mine.length / 5);
  expect(admission.admit('list', '203.0.113.1')).toBeUndefined();
  mine[0]?.leave();
  expect(admission.admit('list', '203.0.113.1')).toBeDefined();
});

test('addresses of one /48 are one network, and so is all that is no address', () => {
  fill('token', '2001:db8::1');
  expect(admission.admit('token', '2001:db8:0:ffff::1')).toBeUndefined();
  expect(admission.admit('token', '2001:db8:1::1')).toBeDefined();
  fill('login', '');
  expect(admission.admit('login', 'unknown')).toBeUndefined();
});

test('lists leave tokens, logins and pages their room', () => {
  for (const network of ['192.0.2.1', '198.51.100.1', '203.0.113.1']) fill('list', network);
  for (const work of ['token', 'login', 'other'] as const)
    expect(admission.admit(work, '192.0.2.1')).toBeDefined();
});

test('so many are in work at a time, the others in their order', async () => {
  const [list, begun] = [fill('list', '192.0.2.1'), new Set<number>()];
  list.forEach((place, index) => void begin(place).then(() => begun.add(index)));
  await settle();
  expect([...begun]).toEqual(list.slice(0, 16).map((_place, index) => index));
  list[3]?.leave();
  list[7]?.leave();
  await settle();
  expect([...begun].slice(16)).toEqual([16, 17]);
});

test('whoever is admitted and has not sent its body keeps nobody from work', async () => {
  fill('token', '192.0.2.1');
  const other = admission.admit('token', '198.51.100.1');
  await expect(begin(other ?? expect.fail())).resolves.toBeUndefined();
});

test('a turn that comes too late, or to nobody, is refused and handed on', async () => {
  const places = fill('list', '192.0.2.1');
  const inWork = places.splice(0, 16);
  for (const place of inWork) await begin(place);
  const [late, gone, next] = places as [Place, Place, Place];
  const outcomes = Promise.allSettled([
    begin(late, 901),
    gone.turn(time + 60_000, () => true),
    begin(next, 60_000),
  ]);
  await expect(begin(late, 900)).rejects.toThrow(Overloaded);
  // Of real time.
  await sleep(20);
  inWork[0]?.leave();
  await settle();
  gone.leave();
  const reasons = (await outcomes).map((outcome) => ('reason' in outcome ? outcome.reason : undefined));
  expect(reasons).toEqual([expect.any(Overloaded), expect.any(Overloaded), undefined]);
});

test('a place that was left has no turn, and takes nobody else’s', async () => {
  const places = fill('list', '192.0.2.1');
  const [body, waiting] = places.splice(16, 2) as [Place, Place];
  const inWork = places.splice(0, 16);
  for (const place of inWork) await begin(place);
  body.leave();
  await expect(begin(body)).rejects.toThrow(Overloaded);
  const refused = expect(begin(waiting)).rejects.toThrow(Overloaded);
  waiting.leave();
  for (const place of [...inWork, ...places]) place.leave();
  await refused;
  const again = fill('list', '192.0.2.1');
  await Promise.all(again.slice(0, 16).map((place) => begin(place)));
});

test('the room follows the pace: slow work has little, and more again when it is quick', async () => {
  const before = fill('list', '192.0.2.1');
  for (const place of before) place.leave();
  await workAt(100, 'list', 100);
  const slow = fill('list', '192.0.2.1');
  for (const place of slow) place.leave();
  expect(slow.length).toBeLessThan(before.length / 4);
  expect(slow.length).toBeGreaterThan(0);
  await workAt(1, 'list', 2_500);
  expect(fill('list', '192.0.2.1').length).toBeGreaterThan(before.length);
});

test('an idle time is no slow pace', async () => {
  const before = fill('token', '192.0.2.1').map((place) => place.leave()).length;
  for (let i = 0; i < 100; i += 1) {
    const place = admission.admit('token', '192.0.2.1') ?? expect.fail();
    await begin(place);
    time += 1_000;
    place.leave();
  }
  expect(fill('token', '192.0.2.1')).toHaveLength(before);
});

test('refusals are one line a second, with their number', () => {
  for (const _again of Array(50)) fill('list', '192.0.2.1');
  time += 1_000;
  fill('list', '192.0.2.1');
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(told.map(({ message, work, refused }) => [message, work, refused])).toEqual([
    ['work refused', 'list', 1],
    ['work refused', 'list', 50],
  ]);
});

test('a client that is proven has no more of the room than a network, from however many', () => {
  const places = Array.from({ length: 250 }, (_, i) => admission.admit('list', `10.0.${i}.1`, 'partner'));
  const had = places.filter((place) => place !== undefined);
  expect(admission.admit('list', '192.0.2.1', 'partner')).toBeUndefined();
  expect(admission.admit('list', '192.0.2.1', 'other')).toBeDefined();
  expect(admission.admit('list', '192.0.2.1')).toBeDefined();
  had[0]?.leave();
  expect(admission.admit('list', '192.0.2.1', 'partner')).toBeDefined();
});
