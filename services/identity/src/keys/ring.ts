// The signing keys in memory, a few seconds behind Postgres: signing, key set and verification never wait for a store.
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '@course-exchange/runtime/process/errors';
import { describeError, type Logger, logText } from '@course-exchange/runtime/process/logger';
import type { PublishedKey } from './key-table.ts';
import { decryptPrivateKey, type KeyEncryptionKey } from './private-key.ts';
import type { SigningAlgorithm } from './signing-key.ts';

export interface SigningKey extends Pick<PublishedKey, 'kid' | 'algorithm'> {
  readonly privateKey: KeyObject;
}

export interface VerificationKey extends Pick<PublishedKey, 'kid' | 'algorithm' | 'publicJwk'> {
  readonly publicKey: KeyObject;
}

export type KeyRing = ReturnType<typeof createKeyRing>;

interface Snapshot {
  readonly stored: readonly PublishedKey[];
  readonly verification: ReadonlyMap<string, VerificationKey>;
  readonly signing: ReadonlyMap<SigningAlgorithm, SigningKey>;
  readonly unopened: boolean;
}

export interface KeyRingDeps {
  readonly readKeys: () => Promise<readonly PublishedKey[]>;
  readonly encryptionKeys: readonly KeyEncryptionKey[];
  readonly needed: readonly SigningAlgorithm[];
}

export function createKeyRing({ readKeys, encryptionKeys, needed }: KeyRingDeps) {
  let snapshot: Snapshot | undefined;
  const verification = () => {
    if (snapshot === undefined) throw unavailable('the key set');
    return snapshot.verification;
  };
  return {
    signingKey: (algorithm: SigningAlgorithm): SigningKey => {
      const key = snapshot?.signing.get(algorithm);
      if (key === undefined) throw unavailable('the signing key');
      return key;
    },
    publishedKeys: (): readonly VerificationKey[] => [...verification().values()],
    verificationKey: (kid: string) => verification().get(kid),
    states: (): readonly Pick<PublishedKey, 'kid' | 'algorithm' | 'state' | 'since'>[] =>
      snapshot?.stored ?? [],
    problem: () => problemOf(snapshot, needed),
    refresh: async (): Promise<void> => {
      snapshot = openKeys(await readKeys(), encryptionKeys, snapshot);
    },
  };
}

function problemOf(snapshot: Snapshot | undefined, needed: readonly SigningAlgorithm[]): string | undefined {
  if (snapshot === undefined) return 'Signing keys were not read yet';
  if (snapshot.unopened) return 'KEY_ENCRYPTION_KEY does not decrypt the signing keys in Postgres';
  const missing = needed.filter((algorithm) => !snapshot.signing.has(algorithm));
  return missing.length === 0
    ? undefined
    : `Signing keys are missing: no active key for ${missing.join(' and ')}; run the migrations`;
}

function openKeys(
  stored: readonly PublishedKey[],
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
  return { stored, verification, signing, unopened };
}

function toVerificationKey({ kid, algorithm, publicJwk }: PublishedKey): VerificationKey {
  return { kid, algorithm, publicJwk, publicKey: createPublicKey({ key: publicJwk, format: 'jwk' }) };
}

function openPrivateKey(
  key: PublishedKey,
  encryptionKeys: readonly KeyEncryptionKey[],
): SigningKey | undefined {
  const pkcs8 = decryptPrivateKey(encryptionKeys, key);
  if (pkcs8 === undefined) return undefined;
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  return { kid: key.kid, algorithm: key.algorithm, privateKey };
}

const pollMs = 5_000;
/** While there is no key to sign with. */
const retryMs = 500;

/** Until `signal` aborts. Logs a failure once, when it starts. */
export async function pollKeys(keys: KeyRing, logger: Logger, signal: AbortSignal): Promise<void> {
  let reported: string | undefined;
  while (!signal.aborted) {
    const problem = await refresh(keys);
    if (problem && problem.sentence !== reported)
      logger.warn('signing keys cannot be used', { problem: logText(problem.sentence), ...problem.fields });
    reported = problem?.sentence;
    const pause = keys.problem() === undefined ? pollMs : retryMs;
    await sleep(pause, undefined, { signal }).catch(() => {});
  }
}

async function refresh(keys: KeyRing) {
  try {
    await keys.refresh();
  } catch (error) {
    return { sentence: 'Signing keys could not be read', fields: describeError(error) };
  }
  const sentence = keys.problem();
  return sentence === undefined ? undefined : { sentence, fields: {} };
}
