// Private keys at rest: AES-256-GCM under KEY_ENCRYPTION_KEY, which comes from outside the database (R18).
// Layout: 12 bytes nonce, 16 bytes tag, ciphertext. The kid is authenticated with it, so that rows cannot be
// swapped.
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Secret } from '@course-exchange/runtime/secret';
import type { RandomBytes } from '../domain/ids.ts';

/** 32 bytes. */
export type KeyEncryptionKey = Secret<Buffer>;

const nonceLength = 12;
const tagLength = 16;

export function encryptPrivateKey(
  key: KeyEncryptionKey,
  kid: string,
  pkcs8: Buffer,
  randomBytes: RandomBytes,
): Buffer {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv('aes-256-gcm', key.reveal(), nonce).setAAD(Buffer.from(kid));
  const ciphertext = Buffer.concat([cipher.update(pkcs8), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** PKCS #8 bytes; undefined when `key` is not the one that closed it, or the row was changed. */
export function decryptPrivateKey(key: KeyEncryptionKey, kid: string, sealed: Buffer): Buffer | undefined {
  const nonce = sealed.subarray(0, nonceLength);
  const tag = sealed.subarray(nonceLength, nonceLength + tagLength);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key.reveal(), nonce, { authTagLength: tagLength })
      .setAAD(Buffer.from(kid))
      .setAuthTag(tag);
    return Buffer.concat([decipher.update(sealed.subarray(nonceLength + tagLength)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** PKCS #8 bytes by the first of `keys` that opens `sealed`; undefined when none does. */
export function openWithAny(
  keys: readonly KeyEncryptionKey[],
  kid: string,
  sealed: Buffer,
): Buffer | undefined {
  for (const key of keys) {
    const pkcs8 = decryptPrivateKey(key, kid, sealed);
    if (pkcs8 !== undefined) return pkcs8;
  }
  return undefined;
}
