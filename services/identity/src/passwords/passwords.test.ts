import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createHashingQueue } from './hashing-queue.ts';
import { createPasswordVerifier, hashPassword } from './password-hash.ts';

describe('passwords (R18)', () => {
  it('are argon2id with a salt of their own', async () => {
    const [one, two] = await Promise.all([hashPassword('grün 🐎'), hashPassword('grün 🐎')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
  });

  it('match as typed and not otherwise; a user who is not there matches nothing', async () => {
    const queue = createHashingQueue({ concurrency: 2, waiting: 10 });
    const verify = await createPasswordVerifier(queue, () => 'nobody knows');
    const stored = await hashPassword('grün');
    expect(await verify(stored, 'grün')).toBe(true);
    expect(await verify(stored, 'grün'.normalize('NFD'))).toBe(false);
    expect(await verify(undefined, 'nobody knows')).toBe(false);
    expect(await verify(stored, 'grün', false)).toBe(false);
  });

  it('hold back the right password of a disabled account as long as a wrong one', async () => {
    const queue = createHashingQueue({ concurrency: 2, waiting: 10 });
    const held: number[] = [];
    const pace = { now: () => performance.now(), sleep: async (ms: number) => void held.push(ms) };
    const verify = await createPasswordVerifier(queue, () => 'nobody knows', pace);
    const own = await hashPassword('grün');
    await verify('$2b$12$zCDcHwtxz48M6fQ2S9vIzuKPeO7CVi5RHJ3pvhXG5qrCfYKIQenSa', 'wrong');
    for (const [typed, mayLogIn] of [
      ['wrong', true],
      ['grün', false],
    ] as const) {
      expect(await verify(own, typed, mayLogIn)).toBe(false);
      expect(held.at(-1)).toBeGreaterThan(10);
    }
    expect(held).toHaveLength(3);
  });
});

describe('the hashing queue (R14)', () => {
  it('runs so many at once, lets so many wait, and refuses the rest without running them', async () => {
    const inTurn = createHashingQueue({ concurrency: 2, waiting: 3 });
    let [running, most, ran] = [0, 0, 0];
    const work = async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(5);
      running -= 1;
      ran += 1;
    };
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => inTurn(work)));
    const refused = results.filter((result) => result.status === 'rejected');
    expect({ most, ran, refused: refused.length }).toEqual({ most: 2, ran: 5, refused: 3 });
    expect(refused[0]?.reason).toMatchObject({ code: 'temporarily_unavailable' });
  });

  it('goes on after a failure', async () => {
    const inTurn = createHashingQueue({ concurrency: 1, waiting: 1 });
    await expect(inTurn(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await inTurn(async () => 'next')).toBe('next');
  });
});
