// Browser sessions of the demo partner, by the hash of the cookie. A session names its user by issuer and
// subject, never by e-mail (specification §5, step 6).
import type { DatabaseSync } from 'node:sqlite';
import { hashOf } from './database.ts';

/** The identity key of a user: both fields together, never one alone. */
export interface Identity {
  readonly iss: string;
  readonly sub: string;
}

export interface Sessions {
  /** Stores a session for the cookie value `id`; anonymous without `identity`. */
  readonly create: (id: string, identity: Identity | undefined, now: number) => void;
  /** `undefined` when there is no such session or it has expired. */
  readonly find: (id: string, now: number) => { readonly identity: Identity | undefined } | undefined;
  readonly remove: (id: string) => void;
  /** Ends every session of a user who has disconnected. */
  readonly removeAll: (identity: Identity) => void;
}

const lifetimeMs = 8 * 3600_000;

/** Times are milliseconds since the epoch. Each call is one statement, so it happens whole or not at all. */
export function createSessions(database: DatabaseSync): Sessions {
  const insert = database.prepare('INSERT INTO sessions (id_hash, iss, sub, expires_at) VALUES (?, ?, ?, ?)');
  const select = database.prepare('SELECT iss, sub FROM sessions WHERE id_hash = ? AND expires_at > ?');
  const drop = database.prepare('DELETE FROM sessions WHERE id_hash = ?');
  const dropAll = database.prepare('DELETE FROM sessions WHERE iss = ? AND sub = ?');
  const dropExpired = database.prepare('DELETE FROM sessions WHERE expires_at <= ?');
  return {
    create: (id, identity, now) => {
      dropExpired.run(now);
      insert.run(hashOf(id), identity?.iss ?? null, identity?.sub ?? null, now + lifetimeMs);
    },
    find: (id, now) => {
      const row = select.get(hashOf(id), now) as { iss: string | null; sub: string | null } | undefined;
      if (!row) return undefined;
      return { identity: row.iss && row.sub ? { iss: row.iss, sub: row.sub } : undefined };
    },
    remove: (id) => void drop.run(hashOf(id)),
    removeAll: ({ iss, sub }) => void dropAll.run(iss, sub),
  };
}
