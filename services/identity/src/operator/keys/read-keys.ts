// The signing keys as operators look at them.
import { phaseOf } from '../../domain/key-lifecycle.ts';
import { decryptPrivateKey } from '../../signing/key-encryption.ts';
import { listKeys, type SealedKey } from '../../store/postgres/key-records.ts';
import type { Desk } from '../desk.ts';

/** Newest first. */
export async function readKeys(desk: Desk, includeRetired: boolean): Promise<readonly SealedKey[]> {
  const keys = await listKeys(desk.database);
  return includeRetired ? keys : keys.filter((key) => phaseOf(key) !== 'retired');
}

/** Whether the present KEY_ENCRYPTION_KEY opens it. */
export function isCurrentlyEncrypted(desk: Desk, { kid, sealedPrivateKey }: SealedKey): boolean {
  return decryptPrivateKey(desk.keyEncryptionKey, kid, sealedPrivateKey) !== undefined;
}
