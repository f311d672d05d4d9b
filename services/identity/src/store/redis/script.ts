// Runs a Lua script by its digest. A script is one atomic step: Redis runs nothing between its first and
// its last command, and all its writes reach the append-only file together.
import { createHash } from 'node:crypto';
import { askAgain } from '@course-exchange/runtime/redis-cluster';
import type { Redis } from 'ioredis';

export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * Runs `script` once. Redis answers NOSCRIPT before it has run anything, so the second way is no repetition.
 * `keys` share a hash tag (Redis Cluster).
 */
export async function runScript(
  redis: Redis,
  { text, sha }: Script,
  keys: readonly string[],
  values: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(sha, keys.length, ...keys, ...values);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    askAgain(redis);
    return redis.eval(text, keys.length, ...keys, ...values);
  }
}
