// Server-side browser transactions (specification §5, step 1): what one authorization request must find again
// when the browser comes back. Bound to the browser session, short-lived, used once.
import type { DatabaseSync } from 'node:sqlite';
import { hashOf } from './database.ts';
import type { Seal } from './seal.ts';

interface Transaction {
  readonly nonce: string;
  readonly verifier: string;
  /** Local path that the user wanted to see. */
  readonly destination: string;
}

export interface Transactions {
  readonly begin: (state: string, session: string, transaction: Transaction, now: number) => void;
  /**
   * Takes the transaction out, in one statement: a second callback with the same state finds nothing.
   * `undefined` when the state is unknown, used, expired, or belongs to another browser session.
   */
  readonly consume: (state: string, session: string, now: number) => Transaction | undefined;
  /** Hands what other tabs have begun from a browser's old session to its new one. */
  readonly move: (oldSession: string, newSession: string) => void;
}

const lifetimeMs = 15 * 60_000;

/** Times are milliseconds since the epoch. */
export function createTransactions(database: DatabaseSync, seal: Seal): Transactions {
  const insert = database.prepare(
    'INSERT INTO transactions (state_hash, session_hash, sealed, expires_at) VALUES (?, ?, ?, ?)',
  );
  const take = database.prepare(
    'DELETE FROM transactions WHERE state_hash = ? AND session_hash = ? RETURNING sealed, expires_at',
  );
  const rebind = database.prepare('UPDATE transactions SET session_hash = ? WHERE session_hash = ?');
  const dropExpired = database.prepare('DELETE FROM transactions WHERE expires_at <= ?');
  return {
    begin: (state, session, transaction, now) => {
      dropExpired.run(now);
      const hash = hashOf(state);
      insert.run(hash, hashOf(session), seal.close(transaction, hash), now + lifetimeMs);
    },
    move: (oldSession, newSession) => void rebind.run(hashOf(newSession), hashOf(oldSession)),
    consume: (state, session, now) => {
      const hash = hashOf(state);
      const row = take.get(hash, hashOf(session)) as { sealed: Uint8Array; expires_at: number } | undefined;
      if (!row || row.expires_at <= now) return undefined;
      return seal.open(row.sealed, hash) as Transaction | undefined;
    },
  };
}
