// Private keys under AES-256-GCM with KEY_ENCRYPTION_KEY (R18.4). Layout: 12 bytes nonce, 16 bytes tag, ciphertext.
// The kid is authenticated data, so that rows cannot be swapped.
import { createCipheriv, createDecipheriv, createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { Secret } from '@course-exchange/runtime/process/secret';
import { calculateJwkThumbprint, type JWK } from 'jose';
import type { RandomBytes } from '../ids.ts';
import type { NewSigningKey } from './key-table.ts';
import type { SigningAlgorithm } from './signing-key.ts';

/** 32 bytes. */
export type KeyEncryptionKey = Secret<Buffer>;

export interface EncryptionDeps {
  readonly keyEncryptionKey: KeyEncryptionKey;
  readonly randomBytes: RandomBytes;
}

const nonceLength = 12;
const tagLength = 16;

/** RSA 2048 or P-256. The kid is the thumbprint (RFC 7638) in hex: a leading dash would be an option of partnerctl. */
export async function generateSigningKey(
  deps: EncryptionDeps,
  algorithm: SigningAlgorithm,
): Promise<NewSigningKey> {
  const { privateKey } =
    algorithm === 'RS256'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicJwk = { ...createPublicKey(privateKey).export({ format: 'jwk' }) };
  const thumbprint = await calculateJwkThumbprint(publicJwk as JWK);
  const kid = Buffer.from(thumbprint, 'base64url').toString('hex');
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' });
  return { kid, algorithm, publicJwk, encryptedPrivateKey: encryptPrivateKey(deps, kid, pkcs8) };
}

export function encryptPrivateKey(
  { keyEncryptionKey, randomBytes }: EncryptionDeps,
  kid: string,
  pkcs8: Buffer,
): Buffer {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv('aes-256-gcm', keyEncryptionKey.reveal(), nonce).setAAD(Buffer.from(kid));
  const ciphertext = Buffer.concat([cipher.update(pkcs8), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** PKCS #8; undefined when no key fits, or the row was changed. */
export function decryptPrivateKey(
  keys: readonly KeyEncryptionKey[],
  { kid, encryptedPrivateKey }: { readonly kid: string; readonly encryptedPrivateKey: Buffer },
): Buffer | undefined {
  return keys.map((key) => decryptWith(key, kid, encryptedPrivateKey)).find((pkcs8) => pkcs8 !== undefined);
}

function decryptWith(key: KeyEncryptionKey, kid: string, encrypted: Buffer): Buffer | undefined {
  const nonce = encrypted.subarray(0, nonceLength);
  const tag = encrypted.subarray(nonceLength, nonceLength + tagLength);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key.reveal(), nonce, { authTagLength: tagLength })
      .setAAD(Buffer.from(kid))
      .setAuthTag(tag);
    return Buffer.concat([decipher.update(encrypted.subarray(nonceLength + tagLength)), decipher.final()]);
  } catch {
    return undefined;
  }
}
