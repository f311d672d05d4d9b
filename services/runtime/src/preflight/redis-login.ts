// One connection to Redis as a job's check makes it: every node that holds data, or the sentence that says why not.
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { hostAsWritten, safeOptions } from '../redis-connection.ts';
import type { RedisPlace } from '../redis-settings.ts';
import { isFaultOfTheWay, pauses } from './passing-faults.ts';
import { sentenceOfRedis } from './redis-faults.ts';

export interface RedisNode {
  /** `host:port`. */
  readonly at: string;
  /** `undefined` where the account may not ask. */
  readonly settings: (...names: readonly string[]) => Promise<ReadonlyMap<string, string> | undefined>;
  /** Of `INFO replication`; `undefined` where the account may not ask. */
  readonly replication: () => Promise<{ readonly role: string; readonly replicas: number } | undefined>;
}

/** Connects, asks, and leaves. A sentence instead of the nodes: nobody was let in, at three tries where none stood. */
export async function withRedisNodes<T>(
  place: RedisPlace,
  work: (nodes: readonly RedisNode[]) => Promise<T>,
): Promise<T | { readonly refusal: string }> {
  for (const pause of pauses) {
    const outcome = await tryNodes(place, work);
    if ('done' in outcome) return outcome.done;
    if (!isPassing(outcome.error)) return { refusal: sentenceOfRedis(outcome.error, place) };
    await sleep(pause);
  }
  const last = await tryNodes(place, work);
  return 'done' in last ? last.done : { refusal: sentenceOfRedis(last.error, place) };
}

/** ioredis names some faults by their message alone. */
function isPassing(error: unknown): boolean {
  const { code, message = '' } = error as { readonly code?: string; readonly message?: string };
  return isFaultOfTheWay(code ?? message);
}

async function tryNodes<T>(
  place: RedisPlace,
  work: (nodes: readonly RedisNode[]) => Promise<T>,
): Promise<{ readonly done: T } | { readonly error: unknown }> {
  const client = place.cluster ? cluster(place) : new Redis(single(place));
  let first: unknown;
  client.on('error', (error: unknown) => {
    first ??= error;
  });
  try {
    await client.connect();
    await client.ping();
    const masters = client instanceof Cluster ? client.nodes('master') : [client];
    return { done: await work(masters.map(nodeOf)) };
  } catch (error) {
    return { error: first ?? error };
  } finally {
    client.disconnect();
  }
}

function nodeOf(redis: Redis): RedisNode {
  const { remoteAddress = redis.options.host, remotePort = redis.options.port } = redis.stream ?? {};
  return {
    at: `${remoteAddress}:${remotePort}`,
    settings: async (...names) => {
      const reply = await redis.config('GET', ...names).catch(() => undefined);
      if (!Array.isArray(reply)) return undefined;
      const words = reply.map(String);
      return new Map(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1] ?? '']] : [])));
    },
    replication: async () => {
      const text = await redis.info('replication').catch(() => undefined);
      if (text === undefined) return undefined;
      const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(text)?.[1];
      return { role: field('role') ?? 'master', replicas: Number(field('connected_slaves') ?? 0) };
    },
  };
}

const once = { connectionName: 'preflight', commandTimeoutMs: 5_000 };
/** Longer than a name server's first answer may be lost for, which is five seconds by default. */
const connectTimeout = 8_000;

function single(place: RedisPlace) {
  const [first] = place.hosts;
  const common = {
    ...safeOptions(place, once),
    connectTimeout,
    lazyConnect: true,
    retryStrategy: () => null,
    db: place.database,
  };
  if (place.sentinelMaster === undefined)
    return { ...common, host: first?.host ?? '', port: first?.port ?? 6379 } satisfies RedisOptions;
  return {
    ...common,
    sentinels: place.hosts.map(({ host, port }) => ({ host, port: port ?? 26379 })),
    name: place.sentinelMaster,
    sentinelRetryStrategy: () => null,
  } satisfies RedisOptions;
}

function cluster(place: RedisPlace): Cluster {
  return new Cluster(
    place.hosts.map(({ host, port }) => ({ host, port: port ?? 6379 })),
    {
      lazyConnect: true,
      clusterRetryStrategy: () => null,
      dnsLookup: hostAsWritten,
      redisOptions: { ...safeOptions(place, once), connectTimeout },
    },
  );
}
