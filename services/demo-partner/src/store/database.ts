// The one file that outlives the process. It holds hashes, identifiers and sealed values: whoever reads the
// file can neither act as a browser nor use a token.
import { createHash } from 'node:crypto';
import { closeSync, fchmodSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const schema = `
  CREATE TABLE IF NOT EXISTS sessions (
    id_hash TEXT PRIMARY KEY, iss TEXT, sub TEXT, expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS transactions (
    state_hash TEXT PRIMARY KEY, session_hash TEXT NOT NULL, sealed BLOB NOT NULL, expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS connections (
    iss TEXT NOT NULL, sub TEXT NOT NULL, sealed BLOB NOT NULL, version INTEGER NOT NULL,
    refreshing INTEGER NOT NULL DEFAULT 0, stored_at INTEGER NOT NULL, PRIMARY KEY (iss, sub)
  ) STRICT;`;

/**
 * Opens `file`, for its owner alone, makes its tables, and deletes connections whose refresh was under way when the process died:
 * their refresh token may be consumed, and it must not be sent again (specification §3).
 */
export function openDatabase(file: string): DatabaseSync {
  keepToOwner(file);
  const database = new DatabaseSync(file);
  // secure_delete overwrites deleted tokens, so that disconnecting leaves nothing in the file.
  database.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;');
  database.exec(schema);
  database.exec('DELETE FROM connections WHERE refreshing = 1');
  return database;
}

/** Before SQLite opens it: SQLite's journal takes the file's mode. */
function keepToOwner(file: string): void {
  const opened = openSync(file, 'a', 0o600);
  fchmodSync(opened, 0o600);
  closeSync(opened);
}

/** What stands in the database for a random value that only the browser holds. */
export function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('base64url');
}
