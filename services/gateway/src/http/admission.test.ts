// Admission with a clock of the test's: what is admitted, and in which order (R14.7, R14.10).
import { Overloaded } from '@course-exchange/runtime/process/errors';
import { beforeEach, expect, test } from 'vitest';
import { type Admission, createAdmission, type Work } from './admission.ts';

let time: number;
let admit: Admission['admit'];
beforeEach(() => {
  time = 1_000_000;
  ({ admit } = createAdmission(() => time));
});

/** Asks until one is refused; what is admitted, in work or not. */
async function fill(work: Work, network: string): Promise<Promise<() => void>[]> {
  const admitted: Promise<() => void>[] = [];
  for (;;) {
    const asked = admit(work, network, time + 60_000);
    asked.catch(() => {});
    if ((await outcomeOf(asked)) === 'no_capacity') return admitted;
    admitted.push(asked);
  }
}

/** `waiting` where it is neither in work nor refused. */
const outcomeOf = (asked: Promise<unknown>): Promise<string> =>
  Promise.race([
    asked.then(
      () => 'in work',
      (error: Error) => error.message,
    ),
    new Promise<string>((resolve) => setImmediate(resolve, 'waiting')),
  ]);

test('one network has 80 % of a capacity, and those that come after it most of what it leaves [R14.10]', async () => {
  const shares: number[] = [];
  for (const network of ['a', 'b', 'c', 'd']) shares.push((await fill('token', network)).length);
  expect(shares).toEqual([512, 103, 20, 4]);
});

test('networks that ask alternately share equally [R14.10]', async () => {
  const shares = { a: 0, b: 0 };
  for (let asked = 0; asked < 640; asked += 1)
    for (const network of ['a', 'b'] as const)
      if ((await outcomeOf(admit('token', network, time + 60_000))) !== 'no_capacity') shares[network] += 1;
  expect(shares).toEqual({ a: 285, b: 284 });
});

test('lists leave the capacity of tokens, logins and pages untouched [R14.7]', async () => {
  for (const network of ['a', 'b', 'c']) await fill('list', network);
  for (const work of ['token', 'login', 'other'] as const)
    expect(await outcomeOf(admit(work, 'a', time + 60_000))).toBe('in work');
});

test('finished work releases its network’s capacity and a permit for the next request, in order', async () => {
  const asked = await fill('list', 'a');
  expect(asked).toHaveLength(103);
  const inWork = asked.slice(0, 16);
  expect(await Promise.all(asked.map(outcomeOf))).toEqual(
    asked.map((_, nth) => (nth < 16 ? 'in work' : 'waiting')),
  );
  for (const one of inWork.slice(0, 2)) (await one)();
  expect(await Promise.all(asked.slice(16, 19).map(outcomeOf))).toEqual(['in work', 'in work', 'waiting']);
  expect(await fill('list', 'a')).toHaveLength(2);
});

test('networks are served in rotation: a later one does not wait for all of another', async () => {
  const asked = await fill('list', 'a');
  const later = [admit('list', 'b', time + 60_000), admit('list', 'b', time + 60_000)];
  for (const one of asked.slice(0, 4)) (await one)();
  const next = [...asked.slice(16, 19), ...later];
  const expected = ['in work', 'in work', 'waiting', 'in work', 'in work'];
  expect(await Promise.all(next.map(outcomeOf))).toEqual(expected);
});

test('a request with too little time left for its permit is refused, and its capacity is released', async () => {
  await expect(admit('list', 'a', time + 900)).rejects.toThrow(Overloaded);
  const asked = await fill('list', 'a');
  const late = admit('list', 'b', time + 901);
  await expect(late).rejects.toThrow('queued_too_long');
  const room = await fill('list', 'b');
  expect(room).toHaveLength(20);
  (await asked[0])?.();
  expect(await outcomeOf(asked[16] as Promise<unknown>)).toBe('in work');
});
