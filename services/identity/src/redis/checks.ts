// The migration job's checks of Redis (decision 0010).
import { codeOf, type Finding, findings } from '@course-exchange/runtime/process/checks';
import type { Logger } from '@course-exchange/runtime/process/logger';
import type { Redis } from 'ioredis';
import { connectRedis } from './connect.ts';
import {
  hungReplicaCounts,
  infoField,
  losingSettings,
  readSettings,
  unconfirmedWrites,
} from './durability.ts';
import { type RedisConfig, redisTarget } from './settings.ts';

/** Several attempts, each with a new name lookup. */
const connectMs = 5_000;

/**
 * A setting that may lose a token now fails everywhere, one that needs a failover or a flood for it, in production.
 */
export async function checkRedis(
  config: RedisConfig,
  production: boolean,
  logger: Logger,
): Promise<readonly Finding[]> {
  const { REDIS_MIN_REPLICAS: minReplicas, REDIS_SETTINGS_ATTESTED: attested } = config;
  const options = { connectionName: 'preflight', commandTimeoutMs: 5_000, minReplicas, logger };
  const redis = connectRedis({ target: redisTarget(config), ...options });
  try {
    await redis.ready(connectMs);
    const masters = await Promise.all(redis.masters().map(look));
    const losing = new Set(masters.flatMap(({ shown, settings }) => (shown ? losingSettings(settings) : [])));
    return [
      ...findings('failure', {
        [`Redis may lose or bring back tokens: ${[...losing].join('; ')}.`]: losing.size > 0,
        [`REDIS_URL reaches no master with ${minReplicas} replicas: name the master, connect more, or correct REDIS_MIN_REPLICAS.`]:
          masters.some(({ role, replicas }) => role !== 'master' || replicas < minReplicas),
      }),
      ...findings(production ? 'failure' : 'warning', {
        'Redis does not show its settings: set REDIS_SETTINGS_ATTESTED where they are those of docs/install.md.':
          !attested && masters.some(({ shown }) => !shown),
        'Redis has no maxmemory: set it, so that a full Redis refuses writes before the kernel kills it.':
          masters.some(({ shown, settings }) => shown && Number(settings.get('maxmemory') ?? 0) === 0),
        'Redis may bring a spent token back by a failover: set REDIS_MIN_REPLICAS to 1, and min-replicas-to-write to the same.':
          masters.some(
            ({ settings, replicas }) =>
              (replicas > 0 && minReplicas === 0) || unconfirmedWrites(settings, minReplicas).length > 0,
          ),
      }),
      ...findings('warning', {
        'Redis counts a replica that hangs for longer than 3 s: set min-replicas-max-lag to 3.': masters.some(
          ({ settings }) => hungReplicaCounts(settings, minReplicas),
        ),
      }),
    ];
  } catch (error) {
    const message = `Redis cannot be used as REDIS_URL says (${codeOf(error)}): correct address, TLS, user or ACL (docs/settings.md).`;
    return [{ kind: 'failure', message }];
  } finally {
    await redis.close();
  }
}

async function look(redis: Redis) {
  const info = await redis.info('replication');
  // Managed ones forbid CONFIG.
  const settings = await readSettings(redis).catch(() => new Map<string, string>());
  return {
    role: infoField(info, 'role'),
    replicas: Number(infoField(info, 'connected_slaves') ?? 0),
    settings,
    shown: settings.size > 0,
  };
}
