// Passwords as argon2id (R18): how one is hashed, and how one is checked in the same time whoever is asked for.
// Imported hashes of other schemes are checked too, until a login replaces them.
import { hash } from '@node-rs/argon2';
import { matchesHash } from './hash-check.ts';
import type { HashingQueue } from './hashing-queue.ts';

/** OWASP's first choice for argon2id, which is also the binding's default algorithm. Memory in KiB. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const ownForm = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$`;

/** An argon2id hash in PHC form, with a random salt. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, parameters);
}

/** Whether a login should replace the hash by one of ours: another scheme, or other costs. */
export function isForeign(passwordHash: string): boolean {
  return !passwordHash.startsWith(ownForm);
}

/**
 * Checks `password` against a stored hash. Undefined stands for a user who is not there, `mayLogIn` false for
 * one who is disabled: both cost the same as a wrong password and are always false. Throws `temporarily_unavailable` when too many wait, before anything is computed.
 */
export type VerifyPassword = (
  passwordHash: string | undefined,
  password: string,
  mayLogIn?: boolean,
) => Promise<boolean>;

/** Milliseconds, and a pause of so many. */
export interface Pace {
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/**
 * Makes the hash that stands in for missing ones; `newSecret` gives a password that nobody knows.
 *
 * An imported hash takes another time than ours. A wrong answer is therefore held back until the slowest
 * scheme would have answered, by what each took lately: the time then tells neither whether the user is
 * there nor whose hash it is. It does differ for the first imported hash that a process ever checks, and by what
 * two hashes of one scheme with different costs differ.
 */
export async function createPasswordVerifier(
  inTurn: HashingQueue,
  newSecret: () => string,
  pace?: Pace,
): Promise<VerifyPassword> {
  const standIn = await hashPassword(newSecret());
  const typical = { own: 0, foreign: 0 };
  return async (passwordHash, password, mayLogIn = true) => {
    // Counted from the start of the hashing: the wait before it is the same for all.
    let begun = 0;
    let lasted = 0;
    const matches = await inTurn(async () => {
      begun = pace?.now() ?? 0;
      const matched = await matchesHash(passwordHash ?? standIn, password);
      lasted = (pace?.now() ?? 0) - begun;
      return matched;
    });
    const scheme = isForeign(passwordHash ?? standIn) ? 'foreign' : 'own';
    typical[scheme] = typical[scheme] === 0 ? lasted : typical[scheme] * 0.8 + lasted * 0.2;
    if (matches && mayLogIn && passwordHash !== undefined) return true;
    // Without imported hashes there is nothing to even out.
    if (pace && typical.foreign > 0)
      await pace.sleep(Math.max(0, begun + Math.max(typical.own, typical.foreign) - pace.now()));
    return false;
  };
}
