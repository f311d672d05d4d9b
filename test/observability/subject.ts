// The system that faults are done to, with a replica of Redis and a Prometheus that scrapes it.
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { redisUrl } from '@course-exchange/local-stack/redis';
import { Redis } from 'ioredis';
import pg from 'pg';
import { durableAt, hasReplicas, openServers, until } from '../stores/redis-servers.ts';
import { openCaller } from '../support/caller.ts';
import { startSystem } from '../support/system.ts';
import type { Link } from '../support/tcp-link.ts';
import type { Subject } from './faults/fault.ts';
import { startPrometheus } from './prometheus.ts';
import { planSlowLink, type SlowLink } from './slow-link.ts';

/** Little room, so that little is enough to fill it, and time enough to be slow and not to fail. */
const settings = {
  RPC_TIMEOUT_MS: '10000',
  POSTGRES_POOL_SIZE: '2',
  LOGIN_HASHING_CONCURRENCY: '1',
  REDIS_MIN_REPLICAS: '1',
};

/** Identity reaches Redis by the link that it opens. */
async function startBehindLink(slow: SlowLink) {
  const { link: port } = await choosePorts(['link']);
  let opening: Promise<Link> | undefined;
  const system = await startSystem(({ ports, secrets }) => {
    opening = slow.open(ports.redis, port);
    return { ...settings, REDIS_URL: redisUrl(port, secrets.redisIdentity, 'identity') };
  });
  return { system, link: await opening };
}

export async function startSubject() {
  const undo: (() => unknown)[] = [];
  const stop = async () => {
    for (const step of undo.toReversed()) await step();
  };
  try {
    const redisLink = planSlowLink();
    const { system, link } = await startBehindLink(redisLink);
    undo.push(() => link?.close(), system.stop);
    const redis = new Redis(`${system.stack.redis}`);
    undo.push(() => redis.disconnect());
    redis.on('error', () => {});
    const servers = await openServers();
    undo.push(servers.stop);
    const { replica: port } = await choosePorts(['replica']);
    const password = `${redis.options.password}`;
    const master = `127.0.0.1 ${redis.options.port}`;
    const replica = await servers.start({
      name: 'replica',
      lines: [...durableAt(port), `requirepass ${password}`, `masterauth ${password}`, `replicaof ${master}`],
      look: { port, password },
    });
    await redis.config('SET', 'min-replicas-to-write', '1');
    await until('the replica follows', () => hasReplicas(redis));
    const database = new pg.Pool({
      connectionString: `${system.stack.postgres}`,
      options: '-c search_path=identity',
    });
    undo.push(() => database.end());
    const prometheus = await startPrometheus(system.stack.addresses);
    undo.push(prometheus.stop);
    const caller = await openCaller(system.stack);
    const subject: Subject = { system, caller, database, redis, redisLink, replica, prometheus };
    return { ...subject, prometheus, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
