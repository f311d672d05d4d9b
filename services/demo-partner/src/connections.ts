// The tokens of each connected user, encrypted and replaced atomically (specification §5): one row per user of an
// issuer.
import type { StoreDeps } from './database.ts';
import type { Identity } from './sessions.ts';

export interface Connection {
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Milliseconds since the epoch. */
  readonly accessTokenExpiresAt: number;
  /** The last refresh; `undefined` before the first. */
  readonly refreshedAt: number | undefined;
  /** For display only: both may change at any time and identify no user. */
  readonly name: string | undefined;
  readonly email: string | undefined;
}

export interface StoredConnection extends Connection {
  /** A refresh may only replace the tokens that it started from. */
  readonly version: number;
}

export type Connections = ReturnType<typeof createConnections>;

const refreshTokenLifetimeMs = 30 * 24 * 3600_000;

export function createConnections({ database, seal }: StoreDeps) {
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
    find: (identity: Identity): StoredConnection | undefined => {
      const row = select.get(identity.iss, identity.sub) as
        | { sealed: Uint8Array; version: number }
        | undefined;
      const connection = row && (seal.unseal(row.sealed, ownerOf(identity)) as Connection | undefined);
      return connection && { ...connection, version: row.version };
    },
    /** Stores the tokens of a new login, which replace older ones. */
    put: (identity: Identity, connection: Connection, now: number): void => {
      dropExpired.run(now - refreshTokenLifetimeMs);
      upsert.run(identity.iss, identity.sub, seal.seal(connection, ownerOf(identity)), now);
    },
    /** False: another refresh is running, or the tokens have changed. */
    startRefresh: ({ iss, sub }: Identity, version: number) => mark.run(iss, sub, version).changes === 1,
    /** Only when the refresh token was certainly not consumed. */
    cancelRefresh: ({ iss, sub }: Identity, version: number) => void unmark.run(iss, sub, version),
    /** Atomic. False: the user disconnected or logged in again meanwhile. */
    replace: (identity: Identity, version: number, connection: Connection, now: number): boolean => {
      const sealed = seal.seal(connection, ownerOf(identity));
      return update.run(sealed, now, identity.iss, identity.sub, version).changes === 1;
    },
    /** Deletes the tokens; with `version` only that version. */
    remove: ({ iss, sub }: Identity, version?: number) =>
      void (version === undefined ? drop.run(iss, sub) : dropVersion.run(iss, sub, version)),
  };
}

function ownerOf({ iss, sub }: Identity): string {
  return JSON.stringify([iss, sub]);
}
