// A write that must survive a failover: it has reached a replica before anything leaves the service.
import { unavailable } from '@course-exchange/runtime/failure';
import type { RedisStore } from '@course-exchange/runtime/redis';
import type { Redis } from 'ioredis';

/** A Redis store whose writes count only once `minReplicas` replicas have them; 0: there is no replica. */
export interface ReplicatedStore extends RedisStore {
  readonly minReplicas: number;
}

/** Longest wait for the replicas, in milliseconds (platform facts). */
const waitMs = 200;

/** Waits for this connection's writes to reach the replicas; `temporarily_unavailable` when they do not. */
export async function confirmReplicas(redis: Redis, minReplicas: number): Promise<void> {
  if (minReplicas === 0) return;
  const acknowledged = await redis.wait(minReplicas, waitMs);
  if (acknowledged < minReplicas) throw unavailable('a Redis replica');
}
