import { describe, expect, it } from 'vitest';
import { matchesHash } from './password.ts';
import { isDamagedBcrypt, passwordAlgorithm, readPasswordHash } from './password-formats.ts';

/** Made by other programs: passlib's documentation (pbkdf2, scrypt), OpenBSD's bcrypt, the argon2 command. */
const foreign: readonly (readonly [string, string, string])[] = [
  ['bcrypt', 'U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
  [
    'pbkdf2',
    'password',
    '$pbkdf2-sha256$6400$.6UI/S.nXIk8jcbdHx3Fhg$98jZicV16ODfEsEZeYPGHU3kbrUrvUEXOPimVSQDD44',
  ],
  [
    'scrypt',
    'password',
    '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
  ],
];

describe('password hashes of other systems', () => {
  it.each(foreign)('%s: the right password matches, another does not', async (scheme, password, hash) => {
    expect(passwordAlgorithm(hash)).toBe(scheme);
    expect(await matchesHash(hash, password)).toBe(true);
    expect(await matchesHash(hash, `${password}x`)).toBe(false);
  });

  it.each([
    ['plain text', 'secret'],
    ['MD5', '5f4dcc3b5aa765d61d8327deb882cf99'],
    ['an empty text', ''],
    ['argon2i', '$argon2i$v=19$m=4096,t=3,p=1$c2FsdHNhbHQ$iWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A'],
    [
      'argon2id of 1 GiB',
      '$argon2id$v=19$m=1048576,t=2,p=1$c2FsdHNhbHQ$iWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A',
    ],
    ['bcrypt of 2^31 rounds', `$2b$31$${'a'.repeat(53)}`],
    ['scrypt of 8 GiB', '$scrypt$ln=20,r=64,p=1$c2FsdHNhbHQ$iWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A'],
    [
      'pbkdf2 of a milliard rounds',
      '$pbkdf2-sha256$1000000000$c2FsdA$iWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A',
    ],
    ['a key of three bytes', '$pbkdf2-sha256$1000$c2FsdA$YWJj'],
    ['a very long text', `$2b$10$${'a'.repeat(600)}`],
  ])('%s is not taken in', async (_what, hash) => {
    expect(readPasswordHash(hash)).toBeUndefined();
    expect(await matchesHash(hash, 'secret')).toBe(false);
  });

  it.each([
    ['salt', '$2a$05$CCCCCCCCCCCCCCCCCCCCC/E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
    ['key', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeX'],
  ])('bcrypt with bits set behind the %s never matches, and is told', async (_part, hash) => {
    expect(await matchesHash(hash, 'U*U')).toBe(false);
    expect(isDamagedBcrypt(hash)).toBe(true);
    expect(readPasswordHash(hash)).toBeUndefined();
    for (const [, , intact] of foreign) expect(isDamagedBcrypt(intact)).toBe(false);
  });
});
