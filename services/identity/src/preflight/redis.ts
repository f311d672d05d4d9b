// Whether Redis is the database that tokens need: it answers, forgets nothing, and has the replicas that a token waits
// for before it leaves (docs/decisions/0010).
import { type Finding, failure, leftOut, warning } from '@course-exchange/runtime/preflight/checks';
import { type RedisNode, withRedisNodes } from '@course-exchange/runtime/preflight/redis-login';
import type { RedisPlace } from '@course-exchange/runtime/redis-settings';
import { durableSettings, leastReplicas } from '../store/redis/redis-settings.ts';

export interface RedisSettings {
  readonly place: RedisPlace;
  /** REDIS_MIN_REPLICAS. */
  readonly minReplicas: number;
  /** There a failover may bring nothing back. */
  readonly production: boolean;
}

export async function checkRedis(settings: RedisSettings | undefined): Promise<readonly Finding[]> {
  if (settings === undefined) return [leftOut('REDIS_URL is not set here.')];
  const findings = await withRedisNodes(settings.place, async (nodes) => {
    const found = await Promise.all(
      nodes.map(async (node) => [
        ...(await checkDurability(node)),
        ...(await checkReplicas(node, settings.minReplicas)),
        ...(await checkLeast(node, settings.minReplicas)),
      ]),
    );
    return [...found.flat(), ...(await checkConfirmation(nodes, settings))];
  });
  return 'refusal' in findings ? [failure(findings.refusal)] : findings;
}

async function checkDurability(node: RedisNode): Promise<readonly Finding[]> {
  const found = await node.settings(...Object.keys(durableSettings));
  if (found === undefined || found.size === 0)
    return [
      warning(
        `Redis at ${node.at} does not say its settings: make sure by other means of ${wantedText(Object.entries(durableSettings))}.`,
      ),
    ];
  const wrong = Object.entries(durableSettings).filter(([name, value]) => found.get(name) !== value);
  if (wrong.length === 0) return [];
  return [failure(`Redis at ${node.at} may lose or bring back tokens: set ${wantedText(wrong)}.`)];
}

function wantedText(settings: readonly (readonly [string, string])[]): string {
  return settings.map(([name, value]) => `${name} ${value}`).join(', ');
}

async function checkReplicas(node: RedisNode, minReplicas: number): Promise<readonly Finding[]> {
  const found = await node.replication();
  if (found === undefined)
    return [warning(`Redis at ${node.at} does not permit INFO: whether it has replicas was not looked at.`)];
  if (found.role !== 'master')
    return [failure(`Redis at ${node.at} is a replica: name the master in REDIS_URL.`)];
  if (found.replicas >= minReplicas) return [];
  return [
    failure(
      `Redis at ${node.at} has ${found.replicas} replicas and REDIS_MIN_REPLICAS is ${minReplicas}: connect more, or no token will leave.`,
    ),
  ];
}

async function checkLeast(node: RedisNode, minReplicas: number): Promise<readonly Finding[]> {
  const least = (await node.settings(leastReplicas))?.get(leastReplicas);
  if (least === undefined || Number(least) >= minReplicas) return [];
  return [
    warning(
      `Redis at ${node.at} executes writes that no token may follow: set ${leastReplicas} to ${minReplicas}, as REDIS_MIN_REPLICAS.`,
    ),
  ];
}

/** Whoever has replicas may fail over to one. */
async function checkConfirmation(
  nodes: readonly RedisNode[],
  { place, minReplicas, production }: RedisSettings,
): Promise<readonly Finding[]> {
  if (minReplicas > 0) return [];
  const found = await Promise.all(nodes.map((node) => node.replication()));
  const replicated = found.some((node) => node !== undefined && node.replicas > 0);
  if (!place.cluster && place.sentinelMaster === undefined && !replicated) return [];
  const tell = production ? failure : warning;
  return [
    tell(
      'Redis may fail over to a replica that has not got a write, and accept a spent token again: set REDIS_MIN_REPLICAS to 1.',
    ),
  ];
}
