// The signing keys in memory, as Postgres had them a few seconds ago. Signing, the key set and verification
// never wait for a store, and keep going when it is away.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { unavailable } from '@course-exchange/runtime/failure';
import type { SigningAlgorithm } from '../domain/signing-algorithm.ts';
import type { StoredSigningKey } from '../store/postgres/signing-keys.ts';
import { type KeyEncryptionKey, openWithAny } from './key-encryption.ts';

export interface SigningKey {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly privateKey: KeyObject;
}

export interface VerificationKey {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  readonly publicKey: KeyObject;
  readonly publicJwk: Readonly<Record<string, unknown>>;
}

export interface KeyRing {
  /** The key that signs now; throws `temporarily_unavailable` when there is none. */
  readonly signingKey: (algorithm: SigningAlgorithm) => SigningKey;
  /** Every published key; throws `temporarily_unavailable` before the first read. */
  readonly publishedKeys: () => readonly VerificationKey[];
  /** A published key; undefined when `kid` names none. */
  readonly verificationKey: (kid: string) => VerificationKey | undefined;
  /** One sentence, when this process cannot sign. */
  readonly problem: () => string | undefined;
  /** Reads the keys anew; on failure the ones before stay. */
  readonly refresh: () => Promise<void>;
}

interface Snapshot {
  readonly verification: ReadonlyMap<string, VerificationKey>;
  readonly signing: ReadonlyMap<SigningAlgorithm, SigningKey>;
  readonly unopened: boolean;
}

export interface KeyRingOptions {
  readonly readKeys: () => Promise<readonly StoredSigningKey[]>;
  readonly keyEncryptionKey: KeyEncryptionKey;
  /** Opens what was not yet encrypted anew under `keyEncryptionKey`. */
  readonly previousKeyEncryptionKey?: KeyEncryptionKey | undefined;
  /** Algorithms that this process must be able to sign with. */
  readonly needed: readonly SigningAlgorithm[];
}

export function createKeyRing(options: KeyRingOptions): KeyRing {
  const { readKeys, keyEncryptionKey, previousKeyEncryptionKey, needed } = options;
  const encryptionKeys = [keyEncryptionKey, ...(previousKeyEncryptionKey ? [previousKeyEncryptionKey] : [])];
  let snapshot: Snapshot | undefined;
  const verificationKey = (kid: string) => snapshot?.verification.get(kid);

  return {
    signingKey: (algorithm) => {
      const key = snapshot?.signing.get(algorithm);
      if (key === undefined) throw unavailable('the signing key');
      return key;
    },
    publishedKeys: () => {
      if (snapshot === undefined) throw unavailable('the key set');
      return [...snapshot.verification.values()];
    },
    verificationKey,
    problem: () => problemOf(snapshot, needed),
    refresh: async () => {
      snapshot = openKeys(await readKeys(), encryptionKeys, snapshot);
    },
  };
}

function problemOf(snapshot: Snapshot | undefined, needed: readonly SigningAlgorithm[]): string | undefined {
  if (snapshot === undefined) return 'Signing keys were not read yet';
  if (snapshot.unopened) return 'KEY_ENCRYPTION_KEY does not open the signing keys in Postgres';
  const missing = needed.filter((algorithm) => !snapshot.signing.has(algorithm));
  return missing.length === 0
    ? undefined
    : `Signing keys are missing: no active key for ${missing.join(' and ')}; run the migrations`;
}

function openKeys(
  stored: readonly StoredSigningKey[],
  encryptionKeys: readonly KeyEncryptionKey[],
  before: Snapshot | undefined,
): Snapshot {
  const verification = new Map<string, VerificationKey>();
  const signing = new Map<SigningAlgorithm, SigningKey>();
  let unopened = false;
  for (const key of stored) {
    verification.set(key.kid, before?.verification.get(key.kid) ?? toVerificationKey(key));
    if (key.state !== 'active') continue;
    const known = before?.signing.get(key.algorithm);
    const opened = known?.kid === key.kid ? known : openPrivateKey(key, encryptionKeys);
    if (opened === undefined) unopened = true;
    else signing.set(key.algorithm, opened);
  }
  return { verification, signing, unopened };
}

function toVerificationKey({ kid, algorithm, publicJwk }: StoredSigningKey): VerificationKey {
  return { kid, algorithm, publicJwk, publicKey: createPublicKey({ key: publicJwk, format: 'jwk' }) };
}

function openPrivateKey(
  key: StoredSigningKey,
  encryptionKeys: readonly KeyEncryptionKey[],
): SigningKey | undefined {
  const pkcs8 = openWithAny(encryptionKeys, key.kid, key.sealedPrivateKey);
  if (pkcs8 === undefined) return undefined;
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  return { kid: key.kid, algorithm: key.algorithm, privateKey };
}
