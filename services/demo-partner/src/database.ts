// The database file, with hashes, identifiers and encrypted values: reading it allows neither acting as a browser nor
// using a token.
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto';
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
 * Opens `file`, readable by its owner only. Deletes connections whose refresh was running when the process died: their
 * token may be consumed, and must not be sent again (specification §3).
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

/** Stored instead of a random value that only the browser knows. */
export function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('base64url');
}

export interface StoreDeps {
  readonly database: DatabaseSync;
  readonly seal: ReturnType<typeof createSeal>;
}

/**
 * JSON under AES-256-GCM with a fresh nonce. The owner is authenticated with it, so that a row copied to another owner
 * does not decrypt. Layout: 12 bytes nonce, 16 bytes tag, ciphertext.
 */
export function createSeal(key: Buffer, randomBytes: (length: number) => Uint8Array) {
  return {
    seal: (value: unknown, owner: string): Uint8Array => {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(owner));
      const text = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]);
    },
    /** The value; `undefined` when key, owner or ciphertext do not match. */
    unseal: (sealed: Uint8Array, owner: string): unknown => {
      const bytes = Buffer.from(sealed);
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 });
      try {
        decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(12, 28));
        return JSON.parse(Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString());
      } catch {
        return undefined;
      }
    },
  };
}
