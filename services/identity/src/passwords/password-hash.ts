// Passwords as argon2id (R18): how one is hashed, and how one is checked in the same time whoever is asked for.
import { hash, verify } from '@node-rs/argon2';
import type { HashingQueue } from './hashing-queue.ts';

/** OWASP's first choice for argon2id, which is also the binding's default algorithm. Memory in KiB. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** An argon2id hash in PHC form, with a random salt. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, parameters);
}

/**
 * Checks `password` against a stored hash. Undefined stands for a user who is not there: it costs the same
 * and is always false. Throws `temporarily_unavailable` when too many wait, before anything is computed.
 */
export type VerifyPassword = (passwordHash: string | undefined, password: string) => Promise<boolean>;

/** Makes the hash that stands in for missing ones; `newSecret` gives a password that nobody knows. */
export async function createPasswordVerifier(
  inTurn: HashingQueue,
  newSecret: () => string,
): Promise<VerifyPassword> {
  const standIn = await hashPassword(newSecret());
  return async (passwordHash, password) => {
    const matches = await inTurn(() => verify(passwordHash ?? standIn, password));
    return matches && passwordHash !== undefined;
  };
}
