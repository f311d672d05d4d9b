// Whether KEY_ENCRYPTION_KEY is the one that sealed the private keys in Postgres: a wrong one is found here, before
// any pod changes.

import type { Queries } from '@course-exchange/runtime/postgres';
import { type Finding, failure } from '@course-exchange/runtime/preflight/checks';
import { appliedVersion } from '@course-exchange/runtime/preflight/schema-version';
import { type KeyEncryptionKey, openWithAny } from '../signing/key-encryption.ts';
import { listKeysInUse } from '../store/postgres/signing-keys.ts';

export async function checkSigningKeys(
  database: Queries,
  keys: readonly KeyEncryptionKey[],
): Promise<readonly Finding[]> {
  if ((await appliedVersion(database, 'identity')) === 0) return [];
  const inUse = await listKeysInUse(database);
  const shut = inUse.filter(({ kid, sealedPrivateKey }) => !openWithAny(keys, kid, sealedPrivateKey));
  if (shut.length === 0) return [];
  return [
    failure(
      `KEY_ENCRYPTION_KEY does not open the signing keys (${shut.length} of ${inUse.length}): give the key that sealed them, here or as KEY_ENCRYPTION_KEY_PREVIOUS.`,
    ),
  ];
}
