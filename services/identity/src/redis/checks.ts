// Whether Redis is the database that tokens need: it answers, forgets nothing, and has the replicas that a token waits
// for before it leaves (decision 0010). For the migration job.
import { type Finding, failure, warning } from '@course-exchange/runtime/process/checks';
import { isNetworkError, withRetries } from '@course-exchange/runtime/process/network-errors';
import { Cluster, Redis } from 'ioredis';
import { errorText } from './check-errors.ts';
import {
  durableSettings,
  executesUnconfirmed,
  infoField,
  leastReplicas,
  losingSettings,
  type MasterSettings,
  readSettings,
} from './durability.ts';
import { hostAsWritten, safeOptions } from './options.ts';
import { endpoints } from './sentinel.ts';
import type { RedisTarget } from './settings.ts';

export interface RedisChecks {
  readonly target: RedisTarget;
  /** REDIS_MIN_REPLICAS. */
  readonly minReplicas: number;
  /** There a failover may bring nothing back. */
  readonly production: boolean;
  /** REDIS_SETTINGS_ATTESTED: somebody vouches for settings that Redis does not show. */
  readonly attested: boolean;
}

export async function checkRedis(checks: RedisChecks): Promise<readonly Finding[]> {
  const masters = await withMasters(checks.target, (found) => Promise.all(found.map(readMaster)));
  if ('refusal' in masters) return [failure(masters.refusal)];
  const findings = masters.flatMap((master) => [
    ...durabilityFindings(master, checks),
    ...privilegeFindings(master),
    ...replicaFindings(master, checks),
  ]);
  return [...findings, ...confirmationFindings(masters, checks)];
}

/** Connects, asks the masters, and leaves. A sentence instead: three tries failed, or one for good. */
async function withMasters<T>(
  target: RedisTarget,
  work: (masters: readonly Redis[]) => Promise<T>,
): Promise<T | { readonly refusal: string }> {
  const attempt = async () => {
    const client = target.cluster ? cluster(target) : single(target);
    let first: unknown;
    client.on('error', (error: unknown) => {
      first ??= error;
    });
    try {
      await client.connect();
      await client.ping();
      return await work(client instanceof Cluster ? client.nodes('master') : [client]);
    } catch (error) {
      throw first ?? error;
    } finally {
      client.disconnect();
    }
  };
  return withRetries(attempt, mayPass).catch((error) => ({ refusal: errorText(error, target) }));
}

/** ioredis names some faults by their message alone. */
function mayPass(error: unknown): boolean {
  const { code, message = '' } = error as { readonly code?: string; readonly message?: string };
  return isNetworkError(code ?? message);
}

const once = { connectionName: 'preflight', commandTimeoutMs: 5_000 };
/** Longer than a name server's first answer may be lost for, which is five seconds by default. */
const connectTimeout = 8_000;

function single(target: RedisTarget): Redis {
  return new Redis({
    ...safeOptions(target, once),
    ...endpoints(target),
    connectTimeout,
    sentinelCommandTimeout: connectTimeout,
    lazyConnect: true,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    db: target.database,
  });
}

function cluster(target: RedisTarget): Cluster {
  return new Cluster([...target.hosts], {
    lazyConnect: true,
    clusterRetryStrategy: () => null,
    dnsLookup: hostAsWritten,
    redisOptions: { ...safeOptions(target, once), connectTimeout },
  });
}

interface Master {
  /** `Redis at host:port`. */
  readonly name: string;
  /** Empty where the account may not ask. */
  readonly settings: MasterSettings;
  /** What the account may do and identity never does; undefined where the server cannot be asked. */
  readonly excess: readonly string[] | undefined;
  /** Of `INFO replication`; undefined where the account may not ask. */
  readonly replication: { readonly role: string; readonly replicas: number } | undefined;
}

async function readMaster(redis: Redis): Promise<Master> {
  const { remoteAddress = redis.options.host, remotePort = redis.options.port } = redis.stream ?? {};
  const settings = await readSettings(redis).catch(() => new Map<string, string>());
  const info = await redis.info('replication').catch(() => undefined);
  return {
    name: `Redis at ${remoteAddress}:${remotePort}`,
    settings,
    excess: await readExcess(redis).catch(() => undefined),
    replication:
      info === undefined
        ? undefined
        : {
            role: infoField(info, 'role') ?? 'master',
            replicas: Number(infoField(info, 'connected_slaves') ?? 0),
          },
  };
}

function durabilityFindings(
  { name, settings }: Master,
  { minReplicas, production, attested }: RedisChecks,
): readonly Finding[] {
  const text = (wanted: readonly (readonly [string, string])[]) =>
    wanted.map(([setting, value]) => `${setting} ${value}`).join(', ');
  if (settings.size === 0) {
    if (attested) return [];
    const needed = [...Object.entries(durableSettings), [leastReplicas, String(minReplicas)] as const];
    const report = production ? failure : warning;
    return [
      report(
        `${name} does not say its settings: make sure of ${text(needed)}, then set REDIS_SETTINGS_ATTESTED.`,
      ),
    ];
  }
  const losing = losingSettings(settings);
  return losing.length === 0 ? [] : [failure(`${name} may lose or bring back tokens: set ${text(losing)}.`)];
}

/** Commands that identity's ACL user lacks (docs/settings.md), by the name that the warning gives them. */
const neverNeeded = {
  'CONFIG SET': 'CONFIG SET appendfsync no',
  KEYS: 'KEYS *',
  FLUSHALL: 'FLUSHALL',
  FLUSHDB: 'FLUSHDB',
  'ACL SETUSER': 'ACL SETUSER default',
  SHUTDOWN: 'SHUTDOWN',
  'keys of others': 'GET not-of-identity',
};

// Runs none of the commands: it asks whether the caller might (since Redis 7.0), which ACL DRYRUN tells administrators only.
const mayRun = `
if not redis.acl_check_cmd then return false end
local answers = {}
for i, command in ipairs(ARGV) do
  local words = {}
  for word in string.gmatch(command, '%S+') do table.insert(words, word) end
  local known, allowed = pcall(redis.acl_check_cmd, unpack(words))
  answers[i] = known and allowed and 1 or 0
end
return answers`;

async function readExcess(redis: Redis): Promise<readonly string[] | undefined> {
  const answers: unknown = await redis.eval(mayRun, 0, ...Object.values(neverNeeded));
  if (!Array.isArray(answers)) return undefined;
  return Object.keys(neverNeeded).filter((_, i) => answers[i] === 1);
}

function privilegeFindings({ name, excess }: Master): readonly Finding[] {
  const remedy = 'give identity the ACL user of docs/settings.md';
  if (excess === undefined)
    return [warning(`${name} does not say what its user may do: make sure by other means, or ${remedy}.`)];
  if (excess.length === 0) return [];
  return [warning(`${name} permits its user more than identity needs (${excess.join(', ')}): ${remedy}.`)];
}

function replicaFindings(master: Master, { minReplicas, production }: RedisChecks): readonly Finding[] {
  const problem = replicationProblem(master, minReplicas);
  if (!executesUnconfirmed(master.settings, minReplicas)) return problem;
  const report = production ? failure : warning;
  return [
    ...problem,
    report(
      `${master.name} executes writes that no token may follow: set ${leastReplicas} to ${minReplicas}, as REDIS_MIN_REPLICAS.`,
    ),
  ];
}

function replicationProblem({ name, replication }: Master, minReplicas: number): readonly Finding[] {
  if (replication === undefined)
    return [warning(`${name} does not permit INFO: whether it has replicas was not checked.`)];
  if (replication.role !== 'master') return [failure(`${name} is a replica: name the master in REDIS_URL.`)];
  if (replication.replicas >= minReplicas) return [];
  return [
    failure(
      `${name} has ${replication.replicas} replicas and REDIS_MIN_REPLICAS is ${minReplicas}: connect more, or no token will leave.`,
    ),
  ];
}

/** Whoever has replicas may fail over to one. */
function confirmationFindings(
  masters: readonly Master[],
  { target, minReplicas, production }: RedisChecks,
): readonly Finding[] {
  if (minReplicas > 0) return [];
  const replicated = masters.some(({ replication }) => (replication?.replicas ?? 0) > 0);
  if (!target.cluster && target.sentinelMaster === undefined && !replicated) return [];
  const report = production ? failure : warning;
  return [
    report(
      'Redis may fail over to a replica that has not got a write, and accept a spent token again: set REDIS_MIN_REPLICAS to 1.',
    ),
  ];
}
