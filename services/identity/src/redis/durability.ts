// Whether every Redis master is configured as a database (decision 0010).
import type { Redis } from 'ioredis';
import type { RedisStore } from './connect.ts';

const durableSettings = { 'maxmemory-policy': 'noeviction', appendonly: 'yes', appendfsync: 'always' };
/** With fewer replicas a master refuses a write. */
const leastReplicas = 'min-replicas-to-write';
/** Seconds for which it counts a hung replica. */
const longestReplicaLag = 'min-replicas-max-lag';

/** Throws where CONFIG is not permitted. */
export async function readSettings(redis: Redis): Promise<ReadonlyMap<string, string>> {
  const names = [...Object.keys(durableSettings), leastReplicas, longestReplicaLag, 'maxmemory'];
  const words = ((await redis.config('GET', ...names)) as unknown[]).map(String);
  return new Map(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1] ?? ''] as const] : [])));
}

export function infoField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
}

export function losingSettings(found: ReadonlyMap<string, string>): readonly string[] {
  return Object.entries(durableSettings)
    .filter(([name, value]) => found.get(name) !== value)
    .map(([name, value]) => `${name} is ${found.get(name)}, expected ${value}`);
}

/** The same for a write that too few replicas can confirm. */
export function unconfirmedWrites(
  found: ReadonlyMap<string, string>,
  minReplicas: number,
): readonly string[] {
  const least = found.get(leastReplicas);
  if (least === undefined || Number(least) >= minReplicas) return [];
  return [`${leastReplicas} is ${least}, expected ${minReplicas}`];
}

/** 0 turns `min-replicas-to-write` off. */
export function hungReplicaCounts(found: ReadonlyMap<string, string>, minReplicas: number): boolean {
  const lag = Number(found.get(longestReplicaLag) ?? longestLag);
  return minReplicas > 0 && (lag === 0 || lag > 3);
}

/** Undefined when no setting differs or CONFIG is not permitted. */
export async function readSettingsWarning(store: RedisStore): Promise<string | undefined> {
  const differences = await settingDifferences(store).catch(() => []);
  if (differences.length === 0) return undefined;
  return `Redis may lose or bring back tokens: ${differences.join('; ')}`;
}

/** Of any master. Throws when CONFIG is not permitted. */
export async function settingDifferences({ masters, replicas }: RedisStore): Promise<readonly string[]> {
  const all = await Promise.all(masters().map(readSettings));
  const differences = all
    .filter((found) => found.size > 0)
    .flatMap((found) => [...losingSettings(found), ...unconfirmedWrites(found, replicas.required)]);
  return [...new Set(differences)];
}

/** Seconds since the last acknowledgement: a replica sends one each second. */
const longestLag = 2;

/** Of the master that has fewest. Throws when INFO is not permitted. */
export async function acknowledgingReplicas({ masters }: RedisStore): Promise<number> {
  const infos = await Promise.all(masters().map((master) => master.info('replication')));
  const counts = infos.map((info) => {
    const lags = [...info.matchAll(/^slave\d+:.*\bstate=online\b.*\blag=(\d+)/gm)];
    return lags.filter(([, lag]) => Number(lag) <= longestLag).length;
  });
  return Math.min(...counts);
}
