// Whether every Redis master is configured as a database (decision 0010): for readiness, metrics and the migration job.
import { codeOf, type Finding, findings } from '@course-exchange/runtime/process/checks';
import { isLoopback } from '@course-exchange/runtime/process/ip-address';
import type { Logger } from '@course-exchange/runtime/process/logger';
import type { Redis } from 'ioredis';
import { connectRedis, type RedisStore } from './connect.ts';
import { type RedisConfig, redisTarget } from './settings.ts';

const durableSettings = { 'maxmemory-policy': 'noeviction', appendonly: 'yes', appendfsync: 'always' };
/** A master with fewer replicas refuses a write. */
const leastReplicas = 'min-replicas-to-write';
/** Seconds for which it counts a hung replica. */
const longestReplicaLag = 'min-replicas-max-lag';

/** Throws where CONFIG is not permitted. */
async function readSettings(redis: Redis): Promise<ReadonlyMap<string, string>> {
  const names = [...Object.keys(durableSettings), leastReplicas, longestReplicaLag, 'maxmemory'];
  const words = ((await redis.config('GET', ...names)) as unknown[]).map(String);
  return new Map(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1] ?? ''] as const] : [])));
}

export function infoField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
}

function losingSettings(found: ReadonlyMap<string, string>): readonly string[] {
  return Object.entries(durableSettings)
    .filter(([name, value]) => found.get(name) !== value)
    .map(([name, value]) => `${name} is ${found.get(name)}, expected ${value}`);
}

/** The same for a write that too few replicas can confirm. */
function unconfirmedWrites(found: ReadonlyMap<string, string>, minReplicas: number): readonly string[] {
  const least = found.get(leastReplicas);
  if (least === undefined || Number(least) >= minReplicas) return [];
  return [`${leastReplicas} is ${least}, expected ${minReplicas}`];
}

/** 0 turns `min-replicas-to-write` off. */
function hungReplicaCounts(found: ReadonlyMap<string, string>, minReplicas: number): boolean {
  const lag = Number(found.get(longestReplicaLag) ?? longestLag);
  return minReplicas > 0 && (lag === 0 || lag > 3);
}

/** Undefined when no setting differs or CONFIG is not permitted. */
export async function readSettingsWarning(store: RedisStore): Promise<string | undefined> {
  const differences = await settingDifferences(store).catch(() => []);
  if (differences.length === 0) return undefined;
  return `Redis may lose or bring back tokens: ${differences.join('; ')}`;
}

/** Those of any master. Throws when CONFIG is not permitted. */
export async function settingDifferences({ masters, replicas }: RedisStore): Promise<readonly string[]> {
  const all = await Promise.all(masters().map(readSettings));
  const differences = all
    .filter((found) => found.size > 0)
    .flatMap((found) => [...losingSettings(found), ...unconfirmedWrites(found, replicas.required)]);
  return [...new Set(differences)];
}

/** Seconds since the last acknowledgement: a replica sends one each second. */
const longestLag = 2;

/** The fewest of any master. Throws when INFO is not permitted. */
export async function acknowledgingReplicas({ masters }: RedisStore): Promise<number> {
  const infos = await Promise.all(masters().map((master) => master.info('replication')));
  const counts = infos.map((info) => {
    const lags = [...info.matchAll(/^slave\d+:.*\bstate=online\b.*\blag=(\d+)/gm)];
    return lags.filter(([, lag]) => Number(lag) <= longestLag).length;
  });
  return Math.min(...counts);
}

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
  const target = redisTarget(config);
  const redis = connectRedis({ target, ...options });
  try {
    await redis.ready(connectMs);
    const masters = await Promise.all(redis.masters().map(look));
    const losing = new Set(masters.flatMap(({ shown, settings }) => (shown ? losingSettings(settings) : [])));
    return [
      ...findings('failure', [
        { bad: losing.size > 0, message: `Redis may lose or bring back tokens: ${[...losing].join('; ')}.` },
        {
          bad: masters.some(({ role, replicas }) => role !== 'master' || replicas < minReplicas),
          message: `REDIS_URL reaches no master with ${minReplicas} replicas: name the master, connect more, or correct REDIS_MIN_REPLICAS.`,
        },
        {
          bad: production && !target.tls && !target.hosts.every(({ host }) => isLoopback(host)),
          message:
            'REDIS_URL has no TLS, which production requires of another machine: begin it with rediss://.',
        },
      ]),
      ...findings(production ? 'failure' : 'warning', [
        {
          bad: !attested && masters.some(({ shown }) => !shown),
          message:
            'Redis does not show its settings: set REDIS_SETTINGS_ATTESTED if they are those of docs/install.md.',
        },
        {
          bad: masters.some(({ shown, settings }) => shown && Number(settings.get('maxmemory') ?? 0) === 0),
          message:
            'Redis has no maxmemory: set it, so that a full Redis refuses writes before the kernel kills it.',
        },
        {
          bad: masters.some(
            ({ settings, replicas }) =>
              (replicas > 0 && minReplicas === 0) || unconfirmedWrites(settings, minReplicas).length > 0,
          ),
          message:
            'Redis may accept a spent token again after a failover: set REDIS_MIN_REPLICAS to 1 or more (decision 0032), and min-replicas-to-write to the same.',
        },
      ]),
      ...findings('warning', [
        {
          bad: masters.some(({ settings }) => hungReplicaCounts(settings, minReplicas)),
          message: 'Redis counts a replica that hangs for longer than 3 s: set min-replicas-max-lag to 3.',
        },
      ]),
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
