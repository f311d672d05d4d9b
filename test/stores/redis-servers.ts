// Redis servers, Sentinels and a Cluster for one test, at 127.0.0.1, that can be killed and started again on their data.
import { appendFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { bringUp, type Component, openProcesses } from '@course-exchange/local-stack/processes';
import { durable, findRedis, identityUser } from '@course-exchange/local-stack/redis';
import { cacheDirectory } from '@course-exchange/local-stack/run-directory';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { readSettings } from '@course-exchange/runtime/process/settings';
import { Redis } from 'ioredis';
import { connectRedis, type RedisStore } from '../../services/identity/src/redis/connect.ts';
import { redisSettings, redisTarget } from '../../services/identity/src/redis/settings.ts';
import { section } from '../docs/documents.ts';
import { ownStopwatch } from '../support/own-time.ts';

export { choosePorts };

/** Lines of a server at `port` that keeps what it acknowledged. */
export const durableAt = (port: number) => [...durable, `port ${port}`, 'repl-diskless-sync-delay 0'];

/** Connects as one process of several, with these settings; by default tokens wait for a replica, and a command has a second. */
export async function openStore(
  source: Readonly<Record<string, string>>,
  onLine: (line: string) => void = () => {},
  commandTimeoutMs = 1_000,
  minReplicas = 1,
): Promise<RedisStore> {
  const logger = createLogger('test', 'info', onLine);
  const target = redisTarget(readSettings(redisSettings, source), source);
  const store = connectRedis({ target, connectionName: 'test', commandTimeoutMs, minReplicas, logger });
  await store.ready();
  return store;
}

/** The server of a store that has one, to look at it. */
export function serverOf(store: RedisStore | undefined): Redis {
  const [server] = store?.masters() ?? [];
  if (server === undefined) throw new Error('no server');
  return server;
}

interface ServerOptions {
  readonly name: string;
  /** Lines of its configuration. It rewrites the file, as Sentinel and Cluster do. */
  readonly lines: readonly string[];
  readonly sentinel?: boolean;
  readonly look: {
    readonly port: number;
    readonly password: string;
    readonly tls?: { readonly ca: string } | { readonly rejectUnauthorized: false };
  };
}

export type TestServer = Awaited<ReturnType<Awaited<ReturnType<typeof openServers>>['start']>>;

/** A container cannot be identified by its port: these tests want the program. */
export async function openServers() {
  const program = await findRedis(cacheDirectory(), false);
  if (program === 'docker') throw new Error('There is no redis-server on PATH.');
  const directory = mkdtempSync(join(tmpdir(), 'course-exchange-redis-'));
  const processes = openProcesses(join(directory, 'processes.json'), [directory]);
  const admins: Redis[] = [];
  return {
    directory,
    start: async ({ name, lines, sentinel, look }: ServerOptions) => {
      const home = join(directory, name);
      const configuration = join(home, 'redis.conf');
      const write = (more: readonly string[]) => appendFileSync(configuration, `${more.join('\n')}\n`);
      mkdirSync(home);
      write(['bind 127.0.0.1', `dir ${home}`, ...lines]);
      const admin = new Redis({ ...look, host: '127.0.0.1', retryStrategy: () => 50 });
      admin.on('error', () => {});
      admins.push(admin);
      const component: Component = {
        program: {
          name,
          command: program.command,
          arguments: [configuration, ...(sentinel ? ['--sentinel'] : [])],
          environment: { LC_ALL: 'C', ...program.environment },
          directory: home,
          logFile: join(home, 'log'),
          stopSignal: 'SIGKILL',
          rank: 1,
        },
        address: `127.0.0.1:${look.port}`,
        problem: () =>
          admin.ping().then(
            () => undefined,
            () => 'Redis did not start.',
          ),
      };
      let { running } = await bringUp(processes, component, 60_000);
      return {
        admin,
        pid: () => running.pid,
        kill: (signal: NodeJS.Signals): unknown => process.kill(running.pid, signal),
        /** Starts it again on its data, after `kill('SIGKILL')`. */
        restart: async (extraLines: readonly string[] = []) => {
          await running.exited;
          write(extraLines);
          running = (await bringUp(processes, component, 60_000)).running;
        },
      };
    },
    stop: async () => {
      for (const admin of admins) admin.disconnect();
      await processes.stopAll(1_000);
    },
  };
}

/** Replicas that have acknowledged something in the last second: one that is frozen stays online for a minute. */
export async function hasReplicas(admin: Redis, count = 1): Promise<boolean> {
  const online = (await admin.info('replication')).match(/^slave\d:.*state=online.*lag=[01]\b/gm) ?? [];
  return online.length >= count;
}

const had = ownStopwatch();

/** Resolves when `holds` does; throws after 90 s that this process had. */
export async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  for (const end = had() + 90_000; had() < end; await sleep(50))
    if (await Promise.resolve(holds()).catch(() => false)) return;
  throw new Error(`${what}: not within 90 s`);
}

const page = () => section('docs/settings.md', '## How identity reaches Redis');

/** The ACL user that docs/settings.md shows to operators: words of ACL SETUSER, the name, then the rules. */
export const documentedUser = (password: string) => identityUser(password).split(' ');

export function documentedSentinelUser(password: string): string[] {
  const [indented = ''] = /(?:^ {4}.*\n?)+/m.exec(page()) ?? [];
  return indented.replace('>password', `>${password}`).trim().split(/\s+/).slice(2);
}

export function documentedClusterUser(password: string): string[] {
  const [, more = ''] = /in a Cluster also `([^`]*)`/.exec(page()) ?? [];
  return [...documentedUser(password), ...more.split(/\s+/)];
}

const slots = 16_384;
const password = 'cluster';
const userPassword = 'user';

interface ClusterNode extends TestServer {
  readonly port: number;
  readonly id: string;
}

export interface Shard {
  readonly master: ClusterNode;
  readonly replica: ClusterNode;
}

/** A Redis Cluster of three masters with a replica each. */
export async function startCluster() {
  const servers = await openServers();
  let epoch = 0;
  let first: { readonly port: number; readonly bus: number } | undefined;
  const start = async (name: string): Promise<ClusterNode> => {
    const ports = await choosePorts(['port', 'bus']);
    const { port, bus } = ports;
    const lines = [
      ...durableAt(port),
      'cluster-enabled yes',
      `cluster-port ${bus}`,
      // A machine may stall for a minute: no failover but those that a test causes.
      'cluster-node-timeout 60000',
      `requirepass ${password}`,
      `masterauth ${password}`,
      `user ${documentedClusterUser(userPassword).join(' ')}`,
    ];
    const server = await servers.start({ name, lines, look: { port, password } });
    const { admin } = server;
    // As `redis-cli --cluster create` does: of two masters with one epoch the nodes would later change one.
    epoch += 1;
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', epoch);
    first ??= ports;
    await admin.call('CLUSTER', 'MEET', '127.0.0.1', first.port, first.bus);
    return { ...server, port, id: String(await admin.call('CLUSTER', 'MYID')) };
  };
  const startShard = async (name: string): Promise<Shard> => ({
    master: await start(name),
    replica: await start(`${name}-replica`),
  });
  const shards = { a: await startShard('a'), b: await startShard('b'), c: await startShard('c') };
  const all = Object.values(shards);
  const nodes = all.flatMap(({ master, replica }) => [master, replica]);
  const firstOf = (index: number) => Math.ceil((slots / all.length) * index);
  for (const [index, { master, replica }] of all.entries()) {
    const { admin } = master;
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', firstOf(index), firstOf(index + 1) - 1);
    const follow = () => replica.admin.call('CLUSTER', 'REPLICATE', master.id);
    await until('a replica', async () => (await follow()) === 'OK');
  }
  for (const { admin } of nodes)
    await until('the cluster', async () => /state:ok/.test(String(await admin.call('CLUSTER', 'INFO'))));
  for (const { master } of all) await until('its replica', () => hasReplicas(master.admin));
  return {
    /** The masters, as `host:port`. */
    seeds: all.map(({ master }) => `127.0.0.1:${master.port}`),
    password,
    userPassword,
    directory: servers.directory,
    shards,
    nodes,
    /** The shard that has `key` by the slots as they were dealt out. */
    shardOf: async (key: string) => {
      const slot = Number(await shards.a.master.admin.call('CLUSTER', 'KEYSLOT', key));
      return all[all.findLastIndex((_, index) => slot >= firstOf(index))];
    },
    /**
     * Kills the master of a shard until `meanwhile` has ended. A second later its replica takes the slots, without an election,
     * whose outcome hangs on what each node knows of the others.
     */
    withoutMaster: async (
      { master, replica }: Shard,
      meanwhile: () => Promise<void>,
      beforeTakeover: () => Promise<unknown> = () => sleep(1_000),
    ) => {
      master.kill('SIGKILL');
      try {
        await beforeTakeover();
        await replica.admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
        await until('another master', async () =>
          /role:master/.test(await replica.admin.info('replication')),
        );
        await meanwhile();
      } finally {
        await master.restart();
      }
    },
    stop: servers.stop,
  };
}
