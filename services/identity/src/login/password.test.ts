import { pbkdf2Sync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { carryContextAcrossAwaits, withCall } from '@course-exchange/runtime/process/request-context';
import { hash as hashBcrypt } from '@node-rs/bcrypt';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { type PasswordHash, passwordHashText, readPasswordHash } from '../users/password-hash.ts';
import {
  createFormCheck,
  createHashingQueue,
  createPasswordVerifier,
  createRehash,
  hashPassword,
  matchesHash,
} from './password.ts';

describe('passwords (R18.3)', () => {
  it('are argon2id, each with a fresh salt', async () => {
    const [one, two] = await Promise.all([hashPassword('grün 🐎'), hashPassword('grün 🐎')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
  });

  it('match as typed or in NFC; a user who is not there matches nothing [R30.15]', async () => {
    const queue = createHashingQueue({ concurrency: 2, waiting: 10 });
    const verify = createPasswordVerifier({
      queue,
      heldForms: async () => [],
      onUnverifiableForm: () => {},
    });
    const stored = await hashPassword('grün');
    const decomposed = 'grün'.normalize('NFD');
    for (const password of ['grün', decomposed])
      expect(await verify({ passwordHash: stored, password })).toEqual({ matched: 'grün' });
    const passwordHash = await hashPassword(decomposed);
    expect(await verify({ passwordHash, password: decomposed })).toEqual({ matched: decomposed });
    expect(await verify({ passwordHash, password: 'grün' })).toBe('differs');
    expect(await verify({ passwordHash: undefined, password: 'grün' })).toBe('differs');
    const check = { passwordHash: stored, password: 'grün', isDisabled: true };
    expect(await verify(check)).toBe('differs');
  });
});

describe('a login makes a hash ours only if no other password matches the old one [R18.9 R18.10]', () => {
  const rehash = createRehash(createHashingQueue({ concurrency: 2, waiting: 10 }));
  const pbkdf2 = '$pbkdf2-sha256$i=1000$c2FsdHNhbHQ$aWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A';
  const scrypt = '$scrypt$ln=4,r=8,p=1$c2FsdHNhbHQ$aWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A';
  const argon2id = '$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$aWh06vD8Fy27wf9npn6FXQ';
  const bcrypt = `$2b$04$${'.'.repeat(53)}`;

  it.each([
    ['bcrypt, 71 bytes', bcrypt, 'x'.repeat(71), true],
    ['bcrypt, 72 bytes: the owner’s may be longer', bcrypt, 'x'.repeat(72), false],
    ['bcrypt, 80 bytes', bcrypt, 'x'.repeat(80), false],
    ['bcrypt, 72 bytes in 36 characters', bcrypt, 'ü'.repeat(36), false],
    ['bcrypt, a NUL', bcrypt, 'abc\0abc', false],
    ['$2x$', bcrypt.replace('2b', '2x'), 'x', false],
    ['PBKDF2, a NUL', pbkdf2, 'abc\0', false],
    ['PBKDF2, 80 bytes', pbkdf2, 'x'.repeat(80), true],
    ['scrypt, a NUL', scrypt, 'abc\0', false],
    ['argon2id, a NUL', argon2id, 'abc\0', true],
    ['argon2id, 80 bytes', argon2id, 'x'.repeat(80), true],
  ])('%s', async (_what, stored, password, renews) => {
    const renewed = await rehash(stored, password);
    expect(renewed?.startsWith('$argon2id$v=19$m=19456,t=2,p=1$') ?? false).toBe(renews);
  });

  it('and leaves one of ours alone, unless it is of another normal form than NFC [R30.15]', async () => {
    expect(await rehash(await hashPassword('grün'), 'grün')).toBeUndefined();
    const decomposed = 'grün'.normalize('NFD');
    const renewed = readPasswordHash((await rehash(await hashPassword(decomposed), decomposed)) ?? '').hash;
    expect(renewed && (await matchesHash(renewed, 'grün'))).toBe(true);
  });

  it('as in bcrypt and HMAC another password does match', async () => {
    const matches = (text: string, password: string) => {
      const { hash } = readPasswordHash(text);
      return hash && matchesHash(hash, password);
    };
    const ofPassword = {
      bcrypt: await hashBcrypt('abc', 4),
      long: await hashBcrypt('x'.repeat(80), 4),
      pbkdf2: `$pbkdf2-sha256$i=1$c2FsdA$${pbkdf2Sync('abc', 'salt', 1, 32, 'sha256').toString('base64')}`,
    };
    expect(await matches(ofPassword.bcrypt, 'abc\0abc')).toBe(true);
    expect(await matches(ofPassword.long, 'x'.repeat(72))).toBe(true);
    expect(await matches(ofPassword.pbkdf2, 'abc\0')).toBe(true);
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
