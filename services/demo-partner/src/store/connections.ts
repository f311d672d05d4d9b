// The tokens of each connected user, sealed (specification §5: encrypt at rest, replace atomically). One row
// for a user of an issuer; a new login replaces it.
import type { DatabaseSync } from 'node:sqlite';
import type { Seal } from './seal.ts';
import type { Identity } from './sessions.ts';

export interface Connection {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Milliseconds since the epoch. */
  readonly accessTokenExpiresAt: number;
  /** When the tokens were last refreshed; `undefined` before the first refresh. */
  readonly refreshedAt: number | undefined;
  /** For display only: both may change at any time and identify nobody. */
  readonly name: string | undefined;
  readonly email: string | undefined;
}

export interface StoredConnection extends Connection {
  /** Changes with each replacement; a refresh may only replace the tokens that it started from. */
  readonly version: number;
}

export interface Connections {
  readonly find: (identity: Identity) => StoredConnection | undefined;
  /** Stores the tokens of a new login in place of any older ones. */
  readonly put: (identity: Identity, connection: Connection, now: number) => void;
  /** Marks a refresh as under way. False: someone else is at it, or the tokens have changed meanwhile. */
  readonly startRefresh: (identity: Identity, version: number) => boolean;
  /** Replaces the refreshed tokens in one statement. False: the user disconnected or logged in anew meanwhile. */
  readonly replace: (identity: Identity, version: number, connection: Connection, now: number) => boolean;
  /** Gives the mark back when it is certain that the refresh token was not consumed. */
  readonly cancelRefresh: (identity: Identity, version: number) => void;
  /** Deletes the tokens; with `version` only when they are still those. */
  readonly remove: (identity: Identity, version?: number) => void;
}

const refreshTokenLifetimeMs = 30 * 24 * 3600_000;

export function createConnections(database: DatabaseSync, seal: Seal): Connections {
  const select = database.prepare('SELECT sealed, version FROM connections WHERE iss = ? AND sub = ?');
  const upsert = database.prepare(
    `INSERT INTO connections (iss, sub, sealed, version, stored_at) VALUES (?, ?, ?, 1, ?)
     ON CONFLICT (iss, sub) DO UPDATE
     SET sealed = excluded.sealed, version = version + 1, refreshing = 0, stored_at = excluded.stored_at`,
  );
  const mark = database.prepare(
    'UPDATE connections SET refreshing = 1 WHERE iss = ? AND sub = ? AND version = ? AND refreshing = 0',
  );
  const unmark = database.prepare(
    'UPDATE connections SET refreshing = 0 WHERE iss = ? AND sub = ? AND version = ?',
  );
  const update = database.prepare(
    `UPDATE connections SET sealed = ?, version = version + 1, refreshing = 0, stored_at = ?
     WHERE iss = ? AND sub = ? AND version = ?`,
  );
  const drop = database.prepare('DELETE FROM connections WHERE iss = ? AND sub = ?');
  const dropVersion = database.prepare('DELETE FROM connections WHERE iss = ? AND sub = ? AND version = ?');
  const dropExpired = database.prepare('DELETE FROM connections WHERE stored_at <= ?');
  return {
    find: (identity) => {
      const row = select.get(identity.iss, identity.sub) as
        | { sealed: Uint8Array; version: number }
        | undefined;
      const connection = row && (seal.open(row.sealed, ownerOf(identity)) as Connection | undefined);
      return connection && { ...connection, version: row.version };
    },
    put: (identity, connection, now) => {
      dropExpired.run(now - refreshTokenLifetimeMs);
      upsert.run(identity.iss, identity.sub, seal.close(connection, ownerOf(identity)), now);
    },
    startRefresh: ({ iss, sub }, version) => mark.run(iss, sub, version).changes === 1,
    cancelRefresh: ({ iss, sub }, version) => void unmark.run(iss, sub, version),
    replace: (identity, version, connection, now) => {
      const sealed = seal.close(connection, ownerOf(identity));
      return update.run(sealed, now, identity.iss, identity.sub, version).changes === 1;
    },
    remove: ({ iss, sub }, version) =>
      void (version === undefined ? drop.run(iss, sub) : dropVersion.run(iss, sub, version)),
  };
}

function ownerOf({ iss, sub }: Identity): string {
  return JSON.stringify([iss, sub]);
}
