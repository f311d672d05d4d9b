// Replicas of a store: a write that must survive a failover is confirmed by them before anything leaves the service
// (decision 0010). What is known of them is known for each of the store's connections.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { timeBudget } from '@course-exchange/rules/time-budget';
import { unavailable } from '@course-exchange/runtime/process/errors';
import type { Redis } from 'ioredis';

/** How long a connection whose replicas were late asks for them before it writes again, in milliseconds. */
const askMs = 50;

export type Replicas = ReturnType<typeof createReplicas>;

/** `required`: how many must have a write; 0: there is no replica. */
export function createReplicas(required: number) {
  /** Connections whose last write the replicas did not have in time. */
  const late = new Set<Redis>();
  /** The asking of such a connection that is under way. */
  const asked = new WeakMap<Redis, Promise<number>>();
  /** The WAIT of a connection that is not sent yet. */
  const next = new WeakMap<Redis, Promise<number>>();

  async function waitInNextTurn(redis: Redis): Promise<number> {
    await nextTurn();
    next.delete(redis);
    return redis.wait(required, timeBudget.replicas);
  }

  return {
    required,
    /** Milliseconds that a write may wait to be confirmed. */
    confirmationMs: required === 0 ? 0 : timeBudget.replicas,

    /** Whether replicas of any connection were late. */
    anyLate: (): boolean => {
      // A node that left a Cluster comes back as another connection.
      for (const redis of late) if (redis.status === 'end') late.delete(redis);
      return late.size > 0;
    },

    /** A known lack of replicas spends no token: whoever would write asks first, all in one WAIT at a time. */
    ask: async (redis: Redis): Promise<void> => {
      if (!late.has(redis)) return;
      const answer = asked.get(redis) ?? redis.wait(required, askMs).finally(() => asked.delete(redis));
      asked.set(redis, answer);
      if ((await answer) < required) throw unavailable('a Redis replica');
      late.delete(redis);
    },

    /**
     * Waits for the connection's writes to reach the replicas. Redis holds back what follows a WAIT on its connection, so
     * writers whose replies arrived together share one: a slow replica delays them all once, not one after the other.
     */
    confirm: async (redis: Redis): Promise<void> => {
      if (required === 0) return;
      const shared = next.get(redis) ?? waitInNextTurn(redis);
      next.set(redis, shared);
      if ((await shared) >= required) return;
      late.add(redis);
      throw unavailable('a Redis replica');
    },
  };
}
