// An imported password becomes ours when its owner logs in: only then is the plain password at hand.
import type { Queries } from '@course-exchange/runtime/postgres';
import type { Sub } from '../domain/ids.ts';
import { replacePasswordHash } from '../store/postgres/users.ts';
import type { HashingQueue } from './hashing-queue.ts';
import { hashPassword, isForeign } from './password-hash.ts';

/** Called with a password that was just found right. */
export type RenewPasswordHash = (
  user: { readonly sub: Sub; readonly passwordHash: string },
  password: string,
) => Promise<void>;

/**
 * Hashes `password` anew where the stored hash is not ours. Atomic: of two logins at once one replaces it. A
 * login does not fail for it: the next one tries again.
 */
export async function renewPasswordHash(
  database: Queries,
  inTurn: HashingQueue,
  { sub, passwordHash }: Parameters<RenewPasswordHash>[0],
  password: string,
): Promise<void> {
  if (!isForeign(passwordHash)) return;
  try {
    const renewed = await inTurn(() => hashPassword(password));
    await replacePasswordHash(database, sub, passwordHash, renewed);
  } catch {
    // The old hash still opens.
  }
}
