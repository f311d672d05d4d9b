// Whether Redis is set up as a database that loses no token (platform facts), in every master of a Cluster.
import type { Redis } from 'ioredis';
import type { ReplicatedStore } from './replication.ts';

/** What each master must have, as CONFIG writes it. */
export const durableSettings = {
  'maxmemory-policy': 'noeviction',
  appendonly: 'yes',
  appendfsync: 'always',
} as const;

/** With fewer replicas a master refuses a write instead of executing what is then answered 503. */
export const leastReplicas = 'min-replicas-to-write';

/**
 * One sentence that names every setting which differs; undefined when none does, or when CONFIG is not
 * permitted or nobody answers and nothing can be said.
 */
export async function readSettingsWarning(store: ReplicatedStore): Promise<string | undefined> {
  const differences = await readDifferences(store).catch(() => []);
  if (differences.length === 0) return undefined;
  return `Redis may lose or bring back tokens: ${[...new Set(differences)].join('; ')}`;
}

async function readDifferences({ masters, minReplicas }: ReplicatedStore): Promise<string[]> {
  const found = await Promise.all(masters().map(readSettings));
  return found.flatMap((settings) => {
    const wrong = Object.entries(durableSettings)
      .filter(([name, value]) => settings.has(name) && settings.get(name) !== value)
      .map(([name, value]) => `${name} is ${settings.get(name)}, expected ${value}`);
    const least = settings.get(leastReplicas);
    if (least !== undefined && Number(least) < minReplicas)
      wrong.push(`${leastReplicas} is ${least}, expected ${minReplicas}`);
    return wrong;
  });
}

async function readSettings(redis: Redis): Promise<ReadonlyMap<string, string>> {
  const reply: unknown = await redis.config('GET', ...Object.keys(durableSettings), leastReplicas);
  const words = Array.isArray(reply) ? reply.map(String) : [];
  return new Map(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1] ?? ''] as const] : [])));
}
