// Makes signing keys: RSA of 2048 bits for RS256, P-256 for ES256. The kid is the key's thumbprint
// (RFC 7638), so it can never name two keys.
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';
import type { RandomBytes } from '../domain/ids.ts';
import type { SigningAlgorithm } from '../domain/signing-algorithm.ts';
import type { NewSigningKey } from '../store/postgres/signing-keys.ts';
import { encryptPrivateKey, type KeyEncryptionKey } from './key-encryption.ts';

export async function generateSigningKey(
  algorithm: SigningAlgorithm,
  key: KeyEncryptionKey,
  randomBytes: RandomBytes,
): Promise<NewSigningKey> {
  const privateKey = generatePrivateKey(algorithm);
  const publicJwk = { ...createPublicKey(privateKey).export({ format: 'jwk' }) };
  const kid = await calculateJwkThumbprint(publicJwk as JWK);
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' });
  return { kid, algorithm, publicJwk, sealedPrivateKey: encryptPrivateKey(key, kid, pkcs8, randomBytes) };
}

function generatePrivateKey(algorithm: SigningAlgorithm): KeyObject {
  return algorithm === 'RS256'
    ? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    : generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
}
