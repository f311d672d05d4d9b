import { describe, expect, it, test } from 'vitest';
import { createHashingQueue, createPasswordVerifier, hashPassword, matchesHash } from '../login/password.ts';
import { isDamagedBcrypt, passwordAlgorithm, readPasswordHash, standInsFor } from './password-hash.ts';

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

const end = 'c2FsdHNhbHQ$aWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A';

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
    ['argon2i', `$argon2i$v=19$m=4096,t=3,p=1$${end}`],
    ['argon2id of 1 GiB', `$argon2id$v=19$m=1048576,t=2,p=1$${end}`],
    ['bcrypt of 2^31 rounds', `$2b$31$${'a'.repeat(53)}`],
    ['scrypt of 8 GiB', `$scrypt$ln=20,r=64,p=1$${end}`],
    ['pbkdf2 of a milliard rounds', `$pbkdf2-sha256$1000000000$${end}`],
    ['a key of three bytes', '$pbkdf2-sha256$1000$c2FsdA$YWJj'],
    ['a very long text', `$2b$10$${'a'.repeat(600)}`],
  ])('%s is not taken in', async (_what, hash) => {
    expect(readPasswordHash(hash)).toBeUndefined();
    expect(await matchesHash(hash, 'secret')).toBe(false);
  });

  it.each([
    ['salt', '$2a$05$CCCCCCCCCCCCCCCCCCCCC/E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
    ['key', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeX'],
  ])('bcrypt with bits set behind the %s never matches, and is reported', async (_part, hash) => {
    expect(await matchesHash(hash, 'U*U')).toBe(false);
    expect(isDamagedBcrypt(hash)).toBe(true);
    expect(readPasswordHash(hash)).toBeUndefined();
    for (const [, , intact] of foreign) expect(isDamagedBcrypt(intact)).toBe(false);
  });
});

const bcryptEnd = 'zCDcHwtxz48M6fQ2S9vIzuKPeO7CVi5RHJ3pvhXG5qrCfYKIQenSa';
/** As after two imports: unlike schemes, and unlike costs of each. */
const imported = {
  $2a$05$: bcryptEnd,
  $2b$08$: bcryptEnd,
  '$pbkdf2-sha256$i=1000$': end,
  '$pbkdf2-sha256$60000$': end,
  '$pbkdf2-sha512$500$': end,
  '$scrypt$ln=5,r=8,p=1$': end,
  '$argon2id$v=19$m=64,t=1,p=1$': end,
};
const queue = createHashingQueue({ concurrency: 1, waiting: 100 });
const heldForms = async () => Object.keys(imported);
const password = 'grün';
const own = await hashPassword(password);
const accounts: Readonly<Record<string, string | undefined>> = {
  nobody: undefined,
  'ours, wrong or disabled': own,
  ...Object.fromEntries(Object.entries(imported).map(([form, rest]) => [form, form + rest])),
  'a form that came a moment ago': `$scrypt$ln=4,r=8,p=1$${end}`,
};

/** Rounds of each kind that a wrong password costs, by the hashes that are verified. */
async function workOf(passwordHash: string | undefined): Promise<Record<string, number>> {
  const work: Record<string, number> = {};
  const count = async (hash: string, typed: string) => {
    expect([hash, readPasswordHash(hash)]).not.toContain(undefined);
    const [kind, rounds] = kindAndRounds(hash);
    work[kind] = (work[kind] ?? 0) + rounds;
    return typed === password;
  };
  const verify = createPasswordVerifier(queue, heldForms, count);
  expect(await verify({ passwordHash, password, isDisabled: true })).toBe(false);
  const ofDisabled = { ...work };
  for (const kind of Object.keys(work)) delete work[kind];
  expect(await verify({ passwordHash, password: 'wrong' })).toBe(false);
  expect(ofDisabled).toEqual(work);
  return work;
}

function kindAndRounds(hash: string): [string, number] {
  const [, scheme = '', costs = '', more = ''] = hash.split('$');
  if (scheme.startsWith('2')) return ['bcrypt', 2 ** Number(costs)];
  if (scheme.startsWith('pbkdf2')) return [scheme, Number(costs.replace('i=', ''))];
  return [scheme === 'scrypt' ? costs : more, 1];
}

describe('a wrong login costs the same for every account [R18.5]', () => {
  const all = {
    bcrypt: 2 ** 8,
    'pbkdf2-sha256': 60_000,
    'pbkdf2-sha512': 500,
    'ln=5,r=8,p=1': 1,
    'm=64,t=1,p=1': 1,
    'm=19456,t=2,p=1': 1,
  };

  test.each(Object.entries(accounts))('%s', async (name, passwordHash) => {
    const passing = name.endsWith('ago') ? { 'ln=4,r=8,p=1': 1 } : {};
    expect(await workOf(passwordHash)).toEqual({ ...all, ...passing });
  });

  test('as an unknown user if a stored bcrypt hash is damaged: it is not computed', async () => {
    const damaged = `$2b$08$${bcryptEnd.replace(/^(.{21})u/, '$1v')}`;
    expect(isDamagedBcrypt(damaged)).toBe(true);
    expect(standInsFor(damaged, Object.keys(imported))).toEqual(
      standInsFor(undefined, Object.keys(imported)),
    );
  });

  test('and the right password no more than its own hash', async () => {
    const seen: string[] = [];
    const verify = createPasswordVerifier(queue, heldForms, async (hash, typed) => {
      seen.push(hash);
      return matchesHash(hash, typed);
    });
    expect(await verify({ passwordHash: own, password })).toBe(true);
    expect(seen).toEqual([own]);
  });
});
