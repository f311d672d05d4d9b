// Private keys under a new key-encryption key. Pods open both meanwhile, so none of them has to stop.
import { encryptPrivateKey, openWithAny } from '../../signing/key-encryption.ts';
import { listKeys, lockKeys, resealKey, type SealedKey } from '../../store/postgres/key-records.ts';
import { carryOut, type Desk, type Order, type Outcome, refused } from '../desk.ts';
import { isCurrentlyEncrypted } from './read-keys.ts';

export interface Reencryption {
  readonly reencrypted: number;
  readonly alreadyCurrent: number;
}

/** All keys or none. Throws `refused` when a key opens with neither key. Atomic. */
export async function reencryptKeys(desk: Desk, order: Order): Promise<Outcome<Reencryption>> {
  return carryOut(desk, order, async (queries, note) => {
    await lockKeys(queries);
    const keys = (await listKeys(queries)).filter(({ sealedPrivateKey }) => sealedPrivateKey.length > 0);
    const others = keys.filter((key) => !isCurrentlyEncrypted(desk, key));
    for (const key of others) {
      await resealKey(
        queries,
        key.kid,
        encryptPrivateKey(desk.keyEncryptionKey, key.kid, open(desk, key), desk.randomBytes),
      );
      const fields = [{ field: 'encryption', before: '"previous"', after: '"current"' }];
      note({ action: 'key.reencrypt', object: `key:${key.kid}`, fields });
    }
    return { reencrypted: others.length, alreadyCurrent: keys.length - others.length };
  });
}

function open({ previousKeyEncryptionKey }: Desk, { kid, sealedPrivateKey }: SealedKey): Buffer {
  if (previousKeyEncryptionKey === undefined)
    throw refused(`Key ${kid} is not under KEY_ENCRYPTION_KEY, and KEY_ENCRYPTION_KEY_PREVIOUS is not set.`);
  const opened = openWithAny([previousKeyEncryptionKey], kid, sealedPrivateKey);
  if (opened === undefined)
    throw refused(`Key ${kid} opens neither with KEY_ENCRYPTION_KEY nor with KEY_ENCRYPTION_KEY_PREVIOUS.`);
  return opened;
}
