import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesHash } from '../login/password.ts';
import {
  formOf,
  type PasswordHash,
  passwordAlgorithm,
  passwordForm,
  passwordHashText,
  readPasswordHash,
} from './password-hash.ts';

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

function read(text: string): PasswordHash {
  const { hash, problem } = readPasswordHash(text);
  if (problem !== undefined) throw new Error(problem);
  return hash;
}

describe('password hashes of other systems', () => {
  it.each(foreign)('%s: the right password matches, another does not', async (scheme, password, hash) => {
    expect(passwordAlgorithm(hash)).toBe(scheme);
    expect(await matchesHash(read(hash), password)).toBe(true);
    expect(await matchesHash(read(hash), `${password}x`)).toBe(false);
  });

  it.each([
    ['plain text', 'secret', /not argon2id/],
    ['MD5', '5f4dcc3b5aa765d61d8327deb882cf99', /not argon2id/],
    ['an empty text', '', /not argon2id/],
    ['a very long text', `$2b$10$${'a'.repeat(600)}`, /not argon2id/],
    ['argon2i', `$argon2i$v=19$m=4096,t=3,p=1$${end}`, /not argon2id/],
    ['argon2id of version 16', `$argon2id$v=16$m=4096,t=3,p=1$${end}`, /not argon2id/],
    ['argon2id of 1 GiB', `$argon2id$v=19$m=1048576,t=2,p=1$${end}`, /costs/],
    ['argon2id with less memory than its lanes need', `$argon2id$v=19$m=15,t=2,p=2$${end}`, /costs/],
    ['bcrypt of 2^31 rounds', `$2b$31$${'.'.repeat(53)}`, /costs/],
    ['scrypt of 8 GiB', `$scrypt$ln=20,r=64,p=1$${end}`, /costs/],
    ['scrypt of an N that its r is too small for', `$scrypt$ln=16,r=1,p=1$${end}`, /costs/],
    ['pbkdf2 of a milliard rounds', `$pbkdf2-sha256$1000000000$${end}`, /costs/],
    [
      'argon2id with a salt of four bytes',
      '$argon2id$v=19$m=64,t=1,p=1$c2FsdA$MTIzNDU2Nzg',
      /salt .* 4 bytes/,
    ],
    ['argon2id with a key of three bytes', '$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$YWJj', /key .* 3 bytes/],
    ['pbkdf2 with a key of three bytes', '$pbkdf2-sha256$1000$c2FsdA$YWJj', /key .* 3 bytes/],
    ['a salt that is no base64', `$scrypt$ln=4,r=8,p=1$c2Fsd$${end.split('$')[1]}`, /salt .* 0 bytes/],
    ['bcrypt with bits behind the salt', `$2a$05$${'C'.repeat(21)}/${'.'.repeat(31)}`, /damaged/],
    ['bcrypt with bits behind the key', `$2a$05$${'.'.repeat(52)}X`, /damaged/],
    ['bcrypt of the faulty version', `$2x$05$${'.'.repeat(53)}`, /faulty/],
  ])('%s is refused, in a sentence that does not quote it [R18.6]', (_what, hash, reason) => {
    const { problem = '' } = readPasswordHash(hash);
    expect(problem).toMatch(reason);
    for (const part of hash.split('$').filter((one) => one.length > 8)) expect(problem).not.toContain(part);
    expect(passwordAlgorithm(hash)).toBe('none');
  });
});

describe('the canonical text [R18.6]', () => {
  const canonical = '$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$aWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A';

  it.each([
    ['as it is', canonical],
    ['padding', '$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ=$aWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A='],
    ['leading zeros', canonical.replace('m=64,t=1,p=1', 'm=0064,t=01,p=001')],
    ['bits behind the salt', canonical.replace('bHQ$', 'bHR$')],
  ])('of a text with %s', (_what, text) => {
    expect(passwordHashText(read(text))).toBe(canonical);
  });

  it.each([
    ['$pbkdf2-sha256$6400$.6UI/S.nXIk8jcbdHx3Fhg$', '$pbkdf2-sha256$i=6400$+6UI/S+nXIk8jcbdHx3Fhg$'],
    ['$pbkdf2-sha512$i=0006400,l=32$c2FsdA==$', '$pbkdf2-sha512$i=6400$c2FsdA$'],
    ['$scrypt$ln=04,r=8,p=01$c2FsdHNhbHQ=$', '$scrypt$ln=4,r=8,p=1$c2FsdHNhbHQ$'],
  ])('of %s…', (text, written) => {
    const key = 'aWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A';
    expect(passwordHashText(read(text + key))).toBe(written + key);
  });
});

describe('the form of a hash', () => {
  it.each([
    [foreign[0]?.[2] ?? '', `$2a$05$${'.'.repeat(53)}`],
    ['$scrypt$ln=4,r=8,p=1$c2FsdHNhbHQ=$aWh06vD8', `$scrypt$ln=4,r=8,p=1$${'.'.repeat(11)}=$........`],
    ['$argon2id$v=19$m=64,t=1,p=1$c2FsdA$aWh0', '$argon2id$v=19$m=64,t=1,p=1$......$....'],
    ['$scrypt$ln=4,r=8,p=1$🐎\n$aWh0', '$scrypt$ln=4,r=8,p=1$..$....'],
    ['plain text', 'plain text'],
  ])('%s has a dot for each character of salt and key', (text, form) => {
    expect(passwordForm(text)).toBe(form);
  });

  it('is as readable as the hash, padded or not', () => {
    for (const length of [126, 127, 128]) {
      const key = Buffer.alloc(length, 7).toString('base64');
      const [hash, form] = [
        read(`$scrypt$ln=4,r=8,p=1$c2FsdA==$${key}`),
        passwordForm(`$scrypt$ln=4,r=8,p=1$c2FsdA==$${key}`),
      ];
      expect(formOf(read(form))).toBe(formOf(hash));
    }
  });
});

const bytes = (least: number, most: number) =>
  fc.uint8Array({ minLength: least, maxLength: most }).map((array) => Buffer.from(array));
const derived = { salt: bytes(0, 70), key: bytes(0, 130) };
/** Bounds and one beyond, cheap ones. */
const hashes = fc.oneof(
  fc.record({
    scheme: fc.constant('argon2id' as const),
    ...{ memory: fc.integer({ min: 0, max: 80 }), passes: fc.integer({ min: 0, max: 2 }) },
    ...{ lanes: fc.integer({ min: 0, max: 9 }), ...derived },
  }),
  fc.record({
    scheme: fc.constant('scrypt' as const),
    ...{ cost: fc.integer({ min: 0, max: 17 }), blockSize: fc.integer({ min: 0, max: 2 }) },
    ...{ parallelization: fc.integer({ min: 0, max: 5 }), ...derived },
  }),
  fc.record({
    scheme: fc.constant('pbkdf2' as const),
    ...{
      digest: fc.constantFrom('sha256', 'sha512'),
      iterations: fc.integer({ min: 0, max: 5 }),
      ...derived,
    },
  }),
  fc.record({
    scheme: fc.constant('bcrypt' as const),
    ...{ version: fc.constantFrom('a', 'b', 'x', 'y'), cost: fc.integer({ min: 0, max: 5 }) },
    digits: fc.constantFrom('.'.repeat(53), 'z'.repeat(53)),
  }),
);

it('what the parser accepts the libraries compute, and its text is read as the same hash [R18.6]', async () => {
  const accepted = async (hash: PasswordHash) => {
    const text = passwordHashText(hash);
    const again = readPasswordHash(text);
    fc.pre(again.problem === undefined);
    expect(again.hash).toEqual(hash);
    await matchesHash(hash, 'a password');
  };
  await fc.assert(fc.asyncProperty(hashes, accepted), { numRuns: 300 });
});
