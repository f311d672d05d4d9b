// Whether Redis is the database that tokens need: it answers, forgets nothing, and has the replicas that a token waits
// for before it leaves (decision 0010). For the migration job.
import { type Finding, failure, findings, warning } from '@course-exchange/runtime/process/checks';
import { isNetworkError, storeProblem, withRetries } from '@course-exchange/runtime/process/network-errors';
import { Cluster, Redis } from 'ioredis';
import {
  durableSettings,
  executesUnconfirmed,
  infoField,
  leastReplicas,
  losingSettings,
  readSettings,
} from './durability.ts';
import { hostAsWritten, safeOptions } from './options.ts';
import { endpoints } from './sentinel.ts';
import { type RedisConfig, type RedisTarget, redisTarget } from './settings.ts';

/** In production a failover must bring nothing back, and a full Redis answer. */
export function checkRedis(config: RedisConfig, production: boolean): Promise<readonly Finding[]> {
  const target = redisTarget(config);
  const ask = (masters: readonly Redis[]) =>
    Promise.all(masters.map((master) => checkMaster(master, config, production)));
  return withRetries(() => onMasters(target, ask), isNetworkError).then(
    (found) => found.flat(),
    (error) => [failure(problemOf(error, target))],
  );
}

/** Longer than a name server's first answer may be lost for, which is five seconds by default. */
const connectTimeout = 8_000;

/** Connects, asks the masters, and leaves. */
async function onMasters<T>(target: RedisTarget, ask: (masters: readonly Redis[]) => Promise<T>): Promise<T> {
  const options = {
    ...safeOptions(target, { connectionName: 'preflight', commandTimeoutMs: 5_000 }),
    connectTimeout,
    sentinelCommandTimeout: connectTimeout,
    lazyConnect: true,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
  };
  const again = { clusterRetryStrategy: () => null, dnsLookup: hostAsWritten, lazyConnect: true };
  const client = target.cluster
    ? new Cluster([...target.hosts], { ...again, redisOptions: options })
    : new Redis({ ...options, ...endpoints(target), db: target.database });
  let first: unknown;
  client.on('error', (error: unknown) => {
    first ??= error;
  });
  try {
    await client.connect();
    return await ask(client instanceof Cluster ? client.nodes('master') : [client]);
  } catch (error) {
    // A Cluster wraps what happened to a node.
    const { lastNodeError = first ?? error } = (first ?? error) as { readonly lastNodeError?: unknown };
    throw lastNodeError;
  } finally {
    client.disconnect();
  }
}

function problemOf(error: unknown, { hosts, sentinelMaster }: RedisTarget): string {
  const password = 'refuses user or password: correct REDIS_USERNAME and REDIS_PASSWORD';
  const acl = 'does not permit its user what identity needs: give it the ACL of docs/settings.md';
  return storeProblem(error, {
    server: `Redis at ${hosts.map(({ host, port }) => `${host}:${port}`).join(', ')}`,
    setting: sentinelMaster === undefined ? 'REDIS_URL' : 'REDIS_URL and REDIS_SENTINEL_MASTER',
    authority: 'REDIS_TLS_CA',
    refusals: { WRONGPASS: password, NOAUTH: password, NOPERM: acl },
  });
}

/** What loses a token today is a failure everywhere; what waits for a failover or a flood, in production. */
async function checkMaster(
  redis: Redis,
  { REDIS_MIN_REPLICAS: minReplicas, REDIS_SETTINGS_ATTESTED: attested }: RedisConfig,
  production: boolean,
): Promise<readonly Finding[]> {
  const { remoteAddress = redis.options.host, remotePort = redis.options.port } = redis.stream ?? {};
  const name = `Redis at ${remoteAddress}:${remotePort}`;
  const info = await redis.info('replication');
  const isMaster = infoField(info, 'role') === 'master';
  const replicas = Number(infoField(info, 'connected_slaves') ?? 0);
  // Managed ones forbid CONFIG.
  const settings = await readSettings(redis).catch(() => new Map<string, string>());
  const shown = settings.size > 0;
  const needed = shown ? losingSettings(settings) : Object.entries(durableSettings);
  const list = needed.map(([setting, value]) => `${setting} ${value}`).join(', ');
  return [
    ...findings(failure, {
      [`${name} may lose or bring back tokens: set ${list}.`]: shown && needed.length > 0,
      [`${name} is a replica: name the master in REDIS_URL.`]: !isMaster,
      [`${name} has ${replicas} replicas and REDIS_MIN_REPLICAS is ${minReplicas}: connect more, or no token will leave.`]:
        isMaster && replicas < minReplicas,
    }),
    ...findings(production ? failure : warning, {
      [`${name} does not show its settings: make sure of ${list}, ${leastReplicas} ${minReplicas} and a maxmemory, then set REDIS_SETTINGS_ATTESTED.`]:
        !shown && !attested,
      [`${name} has no maxmemory: set it as docs/install.md says, so that a full Redis refuses writes before the kernel kills it.`]:
        shown && Number(settings.get('maxmemory') ?? 0) === 0,
      [`${name} executes writes that no token may follow: set ${leastReplicas} to ${minReplicas}, as REDIS_MIN_REPLICAS.`]:
        executesUnconfirmed(settings, minReplicas),
      [`${name} may fail over to a replica that lacks a write, and accept a spent token again: set REDIS_MIN_REPLICAS to 1.`]:
        replicas > 0 && minReplicas === 0,
    }),
  ];
}
