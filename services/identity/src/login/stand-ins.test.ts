import { describe, expect, test } from 'vitest';
import { type PasswordHash, passwordHashText, readPasswordHash } from '../users/password-hash.ts';
import { createHashingQueue, createPasswordVerifier, hashPassword, matchesHash } from './password.ts';

const end = 'c2FsdHNhbHQ$aWh06vD8Fy27wf9npn6FXWiCX4K6pW6Ue1Bnzz07Z8A';
/** The parser takes it. */
const refusedByLibrary = '$argon2id$v=19$m=80,t=1,p=1$c2FsdHNhbHQ$aWh06vD8Fy27wf9npn6FXQ';
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
const heldForms = async () => Object.entries(imported).map(([form, rest]) => form + rest);
const password = 'grün';
const own = await hashPassword(password);
const accounts: Readonly<Record<string, string | undefined>> = {
  nobody: undefined,
  'ours, wrong or disabled': own,
  ...Object.fromEntries(Object.entries(imported).map(([form, rest]) => [form, form + rest])),
  'a form that came a moment ago': `$scrypt$ln=4,r=8,p=1$${end}`,
  'a damaged bcrypt hash': `$2b$08$${bcryptEnd.replace(/^(.{21})u/, '$1v')}`,
  'argon2id with a short salt': '$argon2id$v=19$m=64,t=1,p=1$c2FsdA$MTIzNDU2Nzg',
  'no hash at all': '-',
  'one that only the library refuses': refusedByLibrary,
};

function verifierOf(matches: (hash: PasswordHash, typed: string) => Promise<boolean>) {
  const unverifiable: string[] = [];
  const onUnverifiableForm = (form: string) => void unverifiable.push(form);
  return { verify: createPasswordVerifier({ queue, heldForms, onUnverifiableForm, matches }), unverifiable };
}

/** As @node-rs/argon2 throws. */
const refusal = () => Object.assign(new Error('Salt is too short'), { code: 'InvalidArg' });

/** Rounds of each kind that a wrong password costs, by the hashes that are verified. */
async function workOf(passwordHash: string | undefined, typed = password): Promise<Record<string, number>> {
  const work: Record<string, number> = {};
  const { verify } = verifierOf(async (hash, spelling) => {
    const text = passwordHashText(hash);
    expect(readPasswordHash(text).problem).toBeUndefined();
    if (text === refusedByLibrary) throw refusal();
    const [kind, rounds] = kindAndRounds(text);
    work[kind] = (work[kind] ?? 0) + rounds;
    return spelling === password;
  });
  expect(await verify({ passwordHash, password: typed, isDisabled: true })).toBeTypeOf('string');
  const ofDisabled = { ...work };
  for (const kind of Object.keys(work)) delete work[kind];
  expect(await verify({ passwordHash, password: `${typed}x` })).toBeTypeOf('string');
  expect(ofDisabled).toEqual(work);
  return work;
}

function kindAndRounds(hash: string): [string, number] {
  const [, scheme = '', costs = '', more = ''] = hash.split('$');
  if (scheme.startsWith('2')) return ['bcrypt', 2 ** Number(costs)];
  if (scheme.startsWith('pbkdf2')) return [scheme, Number(costs.replace('i=', ''))];
  return [scheme === 'scrypt' ? costs : more, 1];
}

describe('a wrong login costs the same for every account, twice when it is not typed in NFC [R18.5 R30.15]', () => {
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
    const work = { ...all, ...passing };
    expect(await workOf(passwordHash)).toEqual(work);
    const twice = Object.entries(work).map(([kind, rounds]) => [kind, 2 * rounds]);
    expect(await workOf(passwordHash, password.normalize('NFD'))).toEqual(Object.fromEntries(twice));
  });

  test('and the right password no more than its own hash', async () => {
    const seen: string[] = [];
    const { verify } = verifierOf(async (hash, typed) => {
      seen.push(passwordHashText(hash));
      return matchesHash(hash, typed);
    });
    expect(await verify({ passwordHash: own, password })).toEqual({ matched: password });
    expect(seen).toEqual([own]);
  });
});

describe('a library that does not compute a hash [R18.8]', () => {
  const fault = new Error('Scrypt failed');
  const noMatch = async () => false;

  test('for its form: no password matches, and the form is reported', async () => {
    // Beyond the memory that scrypt may take, of which the parser knows nothing.
    const text = `$scrypt$ln=1,r=524288,p=4$${end}`;
    expect(readPasswordHash(text).problem).toBeUndefined();
    const { verify, unverifiable } = verifierOf((hash, typed) =>
      passwordHashText(hash) === text ? matchesHash(hash, typed) : noMatch(),
    );
    expect(await verify({ passwordHash: text, password })).toBe('unverifiable');
    expect(unverifiable).toEqual([`$scrypt$ln=1,r=524288,p=4$${'.'.repeat(11)}$${'.'.repeat(43)}`]);
  });

  test('for another reason is a fault, not a wrong password', async () => {
    const { verify, unverifiable } = verifierOf(() => Promise.reject(fault));
    await expect(verify({ passwordHash: own, password })).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      cause: fault,
    });
    expect(unverifiable).toEqual([]);
  });

  test.each([
    ['refused', refusal()],
    ['failed', fault],
  ])('decides no login when a dummy hash is %s', async (_how, error) => {
    const { verify } = verifierOf(async (hash, typed) => {
      if (passwordHashText(hash) !== own) throw error;
      return matchesHash(hash, typed);
    });
    expect(await verify({ passwordHash: own, password })).toEqual({ matched: password });
    expect(await verify({ passwordHash: own, password: 'wrong' })).toBe('differs');
    expect(await verify({ passwordHash: undefined, password })).toBe('differs');
  });

  test('for damage of this hash alone: the form is not reported', async () => {
    const { verify, unverifiable } = verifierOf(noMatch);
    expect(await verify({ passwordHash: `$2b$08$${'z'.repeat(53)}`, password })).toBe('unverifiable');
    expect(unverifiable).toEqual([]);
  });

  test('is found by the forms that users have, before one of these logs in', async () => {
    const short = '$argon2id$v=19$m=64,t=1,p=1$......$......................';
    const unverifiable: string[] = [];
    const verify = createPasswordVerifier({
      queue,
      heldForms: async () => [short],
      onUnverifiableForm: (form) => void unverifiable.push(form),
      matches: noMatch,
    });
    expect(await verify({ passwordHash: undefined, password })).toBe('differs');
    expect(unverifiable).toEqual([short]);
  });
});
