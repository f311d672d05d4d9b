// Lua scripts, run by their digest; each is one atomic step.
import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { RedisStore } from './connect.ts';

export interface Script {
  readonly text: string;
  readonly sha: string;
}

export function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** One key, or several of one hash tag (Redis Cluster). */
type Keys = readonly [string, ...string[]];
type Values = readonly (string | number)[];

export function runScript(
  store: RedisStore,
  operation: string,
  script: Script,
  keys: Keys,
  values: Values,
): Promise<unknown> {
  return store.run(operation, keys[0], (redis) => evaluate(redis, script, keys, values));
}

/** NOSCRIPT: nothing was executed. */
async function evaluate(redis: Redis, { text, sha }: Script, keys: Keys, values: Values): Promise<unknown> {
  try {
    return await redis.evalsha(sha, keys.length, ...keys, ...values);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return redis.eval(text, keys.length, ...keys, ...values);
  }
}

/** `runScript`, confirmed by the replicas; otherwise `temporarily_unavailable`. */
export async function runReplicated(
  { run, replicas }: RedisStore,
  operation: string,
  script: Script,
  keys: Keys,
  values: Values,
): Promise<unknown> {
  if (replicas.anyLate()) await run('ask for replicas', keys[0], replicas.ask);
  return run(operation, keys[0], async (redis) => {
    const result = await evaluate(redis, script, keys, values);
    await replicas.confirm(redis);
    return result;
  });
}
