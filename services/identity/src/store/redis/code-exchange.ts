// The one step from an authorization code to a refresh family, over both their keys.
import type { PresentedToken } from '../../domain/token-string.ts';
import { codeKey } from './authorization-codes.ts';
import { familyFields, familyKey, type RefreshFamily, refreshLifetime } from './refresh-families.ts';
import { confirmReplicas, type ReplicatedStore } from './replication.ts';
import { runScript, script } from './script.ts';

// Shared by both scripts: the presented code is the consumed one that this family descends from, and its own
// client presents it again (R10). The mark outlives the 10 s in which a browser may repeat its decision (R6).
const revokeReplayed = `
if redis.call('HGET', KEYS[2], 'code_hash') == ARGV[1] and redis.call('HGET', KEYS[2], 'client') == ARGV[2] then
  redis.call('DEL', KEYS[2])
  redis.call('HSET', KEYS[1], 'spent', 1)
  redis.call('EXPIRE', KEYS[1], 60)
end
return 0`;

// Atomic: the code is consumed and the family begun in the same step, so no crash lies between them; of N
// concurrent exchanges the first deletes the code, the others find its family and are replays (R9, R10).
const exchange = script(`
if redis.call('HGET', KEYS[1], 'hash') == ARGV[1] then
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[2], unpack(ARGV, 4))
  redis.call('EXPIRE', KEYS[2], ARGV[3])
  return 1
end${revokeReplayed}`);

const replay = script(revokeReplayed);

/**
 * Consumes the code of `begun.codeHash` and begins the family `begun`. False when the code was consumed
 * meanwhile: then this was a replay, and the family is revoked (R10). Atomic.
 */
export async function exchangeCode(store: ReplicatedStore, begun: RefreshFamily): Promise<boolean> {
  const keys = [codeKey(begun.family), familyKey(begun.family)];
  return store.run('exchange authorization code', codeKey(begun.family), async (redis) => {
    const values = [begun.codeHash, begun.clientId, refreshLifetime, ...familyFields(begun)];
    const exchanged = await runScript(redis, exchange, keys, values);
    await confirmReplicas(redis, store.minReplicas);
    return exchanged === 1;
  });
}

/** Revokes the family that descends from the presented code, if it is `clientId`'s; else nothing (R10). Atomic. */
export async function revokeOnReplay(
  store: ReplicatedStore,
  presented: PresentedToken,
  clientId: string,
): Promise<void> {
  const keys = [codeKey(presented.family), familyKey(presented.family)];
  await store.run('revoke on replay', codeKey(presented.family), async (redis) => {
    await runScript(redis, replay, keys, [presented.hash, clientId]);
    await confirmReplicas(redis, store.minReplicas);
  });
}
