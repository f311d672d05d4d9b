// Encryption at rest (specification §5, token lifetimes): AES-256-GCM with a fresh nonce for each value. The
// owner of a value is authenticated with it, so that a row copied to another owner does not open.
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Secret } from '@course-exchange/runtime/secret';

export interface Seal {
  readonly close: (value: unknown, owner: string) => Uint8Array;
  /** The value, or `undefined` when the key, the owner or a byte is not the one that it was closed with. */
  readonly open: (sealed: Uint8Array, owner: string) => unknown;
}

/** Seals JSON values under `key` (32 bytes); `randomBytes` must be cryptographic. Layout: 12 bytes nonce, 16 bytes tag, ciphertext. */
export function createSeal(key: Secret<Buffer>, randomBytes: (length: number) => Uint8Array): Seal {
  return {
    close: (value, owner) => {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key.reveal(), nonce).setAAD(Buffer.from(owner));
      const text = Buffer.concat([cipher.update(JSON.stringify(value)), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]);
    },
    open: (sealed, owner) => {
      const bytes = Buffer.from(sealed);
      const nonce = bytes.subarray(0, 12);
      const decipher = createDecipheriv('aes-256-gcm', key.reveal(), nonce, { authTagLength: 16 });
      try {
        decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(12, 28));
        return JSON.parse(Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString());
      } catch {
        return undefined;
      }
    },
  };
}
