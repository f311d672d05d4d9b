// Replicas of a store confirm a write that must survive a failover before a token leaves (decision 0010).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { timeBudget } from '@course-exchange/rules/time-budget';
import { unavailable } from '@course-exchange/runtime/process/errors';
import type { Redis } from 'ioredis';

/** For a WAIT before a write, in milliseconds. */
const askMs = 50;

export type Replicas = ReturnType<typeof createReplicas>;

export function createReplicas(required: number) {
  /** Connections whose last write was not confirmed in time. */
  const lagging = new Set<Redis>();
  /** Their WAIT in flight. */
  const asked = new WeakMap<Redis, Promise<number>>();
  const next = new WeakMap<Redis, Promise<number>>();

  async function waitInNextTurn(redis: Redis): Promise<number> {
    await nextTurn();
    next.delete(redis);
    return redis.wait(required, timeBudget.replicas);
  }

  return {
    required,
    /** Milliseconds that a write may wait for confirmation. */
    confirmationMs: required === 0 ? 0 : timeBudget.replicas,

    anyLate: (): boolean => {
      // A node that left a Cluster returns as another connection.
      for (const redis of lagging) if (redis.status === 'end') lagging.delete(redis);
      return lagging.size > 0;
    },

    /** Before a write: without replicas no token is spent. */
    ask: async (redis: Redis): Promise<void> => {
      if (!lagging.has(redis)) return;
      const answer = asked.get(redis) ?? redis.wait(required, askMs).finally(() => asked.delete(redis));
      asked.set(redis, answer);
      if ((await answer) < required) throw unavailable('a Redis replica');
      lagging.delete(redis);
    },

    /** Redis executes nothing behind a WAIT: writers whose replies arrived together share one. */
    confirm: async (redis: Redis): Promise<void> => {
      if (required === 0) return;
      const shared = next.get(redis) ?? waitInNextTurn(redis);
      next.set(redis, shared);
      if ((await shared) >= required) return;
      lagging.add(redis);
      throw unavailable('a Redis replica');
    },
  };
}
