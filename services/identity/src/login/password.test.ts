import { setTimeout as sleep } from 'node:timers/promises';
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/process/request-context';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { type PasswordHash, passwordHashText, readPasswordHash } from '../users/password-hash.ts';
import { createFormCheck, createHashingQueue, createPasswordVerifier, hashPassword } from './password.ts';

describe('passwords (R18.3)', () => {
  it('are argon2id, each with a fresh salt', async () => {
    const [one, two] = await Promise.all([hashPassword('grün 🐎'), hashPassword('grün 🐎')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
  });

  it('match as typed and not otherwise; a user who is not there matches nothing', async () => {
    const queue = createHashingQueue({ concurrency: 2, waiting: 10 });
    const verify = createPasswordVerifier({
      queue,
      heldForms: async () => [],
      onUnverifiableForm: () => {},
    });
    const stored = await hashPassword('grün');
    expect(await verify({ passwordHash: stored, password: 'grün' })).toBe('matches');
    expect(await verify({ passwordHash: stored, password: 'grün'.normalize('NFD') })).toBe('differs');
    expect(await verify({ passwordHash: undefined, password: 'grün' })).toBe('differs');
    const check = { passwordHash: stored, password: 'grün', isDisabled: true };
    expect(await verify(check)).toBe('differs');
  });
});

describe('the check of a form [R18.7]', () => {
  const of = (end: string) =>
    readPasswordHash(`$pbkdf2-sha256$i=1000$c2FsdA$${end.repeat(22)}`).hash as PasswordHash;

  it('computes it once, among suspect logins', async () => {
    const queue = createHashingQueue({ concurrency: 1, waiting: 1 });
    const check = createFormCheck(queue, async () => false);
    const held = Promise.withResolvers<void>();
    const first = queue(() => held.promise);
    const waiting = queue(async () => {}, true);
    await expect(check(of('A'))).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    held.resolve();
    await Promise.all([first, waiting]);
    const computed: string[] = [];
    const counting = createFormCheck(queue, async (hash) => computed.push(passwordHashText(hash)) < 0);
    expect([await counting(of('A')), await counting(of('B'))]).toEqual([true, true]);
    expect(computed).toEqual([passwordHashText(of('A'))]);
  });

  it.each([
    ['refused', 'InvalidArg', false],
    ['refused by scrypt', 'ERR_CRYPTO_INVALID_SCRYPT_PARAMS', false],
    ['a fault', 'ERR_CRYPTO_OPERATION_FAILED', undefined],
  ])('tells what is %s', async (_what, code, verifies) => {
    const queue = createHashingQueue({ concurrency: 1, waiting: 1 });
    const fails = createFormCheck(queue, () => Promise.reject(Object.assign(new Error('no'), { code })));
    if (verifies !== undefined) expect(await fails(of('A'))).toBe(verifies);
    else await expect(fails(of('A'))).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  });
});

describe('the hashing queue (R14.5)', () => {
  it('bounds what runs and what is queued, and refuses the rest without running it', async () => {
    const queue = createHashingQueue({ concurrency: 2, waiting: 3 });
    let [running, most, ran] = [0, 0, 0];
    const work = async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(5);
      running -= 1;
      ran += 1;
    };
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => queue(work)));
    const refused = results.filter((result) => result.status === 'rejected');
    expect({ most, ran, refused: refused.length }).toEqual({ most: 2, ran: 5, refused: 3 });
    expect(refused[0]?.reason).toMatchObject({ code: 'temporarily_unavailable' });
  });

  it('keeps half of its capacity for logins that are not suspect', async () => {
    const queue = createHashingQueue({ concurrency: 1, waiting: 4 });
    const held = Promise.withResolvers<void>();
    const waiting = [queue(() => held.promise), ...[1, 2].map(() => queue(async () => {}, true))];
    await expect(queue(async () => {}, true)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    waiting.push(...[1, 2].map(() => queue(async () => {})));
    await expect(queue(async () => {})).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    held.resolve();
    await Promise.all(waiting);
  });

  it('refuses what has waited too long, runs none of it, and goes on with the next', async () => {
    const queue = createHashingQueue({ concurrency: 1, waiting: 3, longestWaitMs: 20 });
    const held = Promise.withResolvers<string>();
    const first = queue(() => held.promise);
    let ran = 0;
    const late = queue(async () => {
      ran += 1;
    });
    await expect(late).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    held.resolve('first');
    expect([await first, await queue(async () => 'next'), ran]).toEqual(['first', 'next', 0]);
  });

  it('runs nothing for a caller whose time is over, and lets none wait for longer than it has', async () => {
    carryContextAcrossAwaits();
    const queue = createHashingQueue({ concurrency: 1, waiting: 1 });
    const withTime = (leftMs: number, work: () => Promise<void>) =>
      context.with(withCall(ROOT_CONTEXT, 'request-1', Date.now() + leftMs), () => queue(work));
    const held = Promise.withResolvers<void>();
    const refused = { code: 'temporarily_unavailable' };
    await expect(withTime(-1, expect.fail)).rejects.toMatchObject(refused);
    const first = withTime(60_000, () => held.promise);
    await expect(withTime(20, expect.fail)).rejects.toMatchObject(refused);
    held.resolve();
    await first;
  });

  it('goes on after a failure', async () => {
    const queue = createHashingQueue({ concurrency: 1, waiting: 1 });
    await expect(queue(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await queue(async () => 'next')).toBe('next');
  });
});
