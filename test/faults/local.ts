// The local stack as a target: real processes of this machine, two of identity, a Redis with a replica that may take its place
// (there is no Sentinel: the nemesis is it), and links between them that can be cut.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { withClient } from '@course-exchange/local-stack/postgres';
import { identityUser, redisUrl } from '@course-exchange/local-stack/redis';
import { ConsentService } from '@course-exchange/proto/operator/v1/consent';
import { KeyService, KeyState } from '@course-exchange/proto/operator/v1/key';
import { durableAt, hasReplicas, openServers, type TestServer, until } from '../stores/redis-servers.ts';
import { callService } from '../support/grpc-client.ts';
import { type System, type PartName as SystemPart, startSystem } from '../support/system.ts';
import { joinLink, type Link } from '../support/tcp-link.ts';
import type { PartName } from './table.ts';
import type { Target, Undo } from './workload.ts';

/** How long nothing passes a link before it is cut, so that operations are under way in it, milliseconds. */
const silenceMs = 1_000;
const latencyMs = 100;

/** `probe`: the process that stalls with the machine. */
export async function startLocal(probe: { readonly pid: number }) {
  const redis = await startRedisPair();
  const links: Partial<Record<SystemPart, Link>> = {
    postgres: await joinLink(),
    identity: await joinLink(),
    'identity-2': await joinLink(),
    'design-catalog': await joinLink(),
  };
  const system = await startSystem(
    { REDIS_URL: redis.url, REDIS_MIN_REPLICAS: '1' },
    { identities: 2, linkTo: (name, port) => links[name]?.leadTo(port) ?? port },
  );
  const processOf = (name: SystemPart): Process => ({
    kill: (how) => system.kill(name, how),
    start: () => system.start(name),
    signal: (signal) => (signal === 'SIGSTOP' ? system.pause(name) : system.resume(name)),
    ready: () => until(`${name} is ready`, async () => (await system.problem(name)) === undefined),
  });
  let isSecond = true;
  /** Alternates between the two of identity. */
  const nameOf = (part: PartName): SystemPart => {
    if (part !== 'identity') return part as SystemPart;
    isSecond = !isSecond;
    return isSecond ? 'identity-2' : 'identity';
  };
  const everyIdentity = (['identity', 'identity-2'] as const).map(processOf);
  const services = (['gateway', 'design-catalog', 'postgres'] as const).map(processOf);
  const asProcess: Process = {
    kill: async () => {},
    start: async () => {},
    signal: (signal) => process.kill(probe.pid, signal),
    ready: async () => {},
  };
  const processesOf = (part: PartName): readonly Process[] => {
    if (part === 'redis') return [redis.primary()];
    if (part === 'replica of redis') return [redis.replica()];
    if (part === 'every identity') return everyIdentity;
    if (part !== 'machine') return [processOf(nameOf(part))];
    return [...services, ...everyIdentity, redis.primary(), redis.replica(), asProcess];
  };

  const linkOf = (part: PartName): Link => (part === 'redis' ? redis.link : (links[nameOf(part)] as Link));

  const end = async (part: PartName, how?: 'asked'): Promise<Undo> => {
    const ended = processesOf(part);
    await Promise.all(ended.map(({ kill }) => kill(how)));
    return () => Promise.all(ended.map(({ start }) => start()));
  };
  const freeze = async (part: PartName): Promise<Undo> => {
    const frozen = processesOf(part);
    for (const { signal } of frozen) signal('SIGSTOP');
    return async () => {
      for (const { signal } of frozen) signal('SIGCONT');
      await Promise.all(frozen.map(({ ready }) => ready()));
    };
  };
  const faults: Target['faults'] = {
    killed: end,
    restarted: (part) => end(part, 'asked'),
    frozen: freeze,
    'standing still': freeze,
    'cut off': async (part) => {
      const link = linkOf(part);
      link.mute();
      await sleep(silenceMs);
      await link.cut();
      return link.join;
    },
    'far away': async (part) => {
      const link = linkOf(part);
      link.delay(latencyMs);
      return async () => link.delay(0);
    },
    'out of disk': async () => {
      const ended = redis.primary();
      await redis.fillDisk();
      return ended.start;
    },
    'replaced by its replica': () => redis.promote(() => sleep(silenceMs)),
    rotated: async () => () => rotateKeys(system),
  };

  const operator = callService(ConsentService, `${system.stack.operator?.identity}`);
  return {
    stack: system.stack,
    logs: system.logs,
    faults,
    withdraw: ({ email }, clientId) =>
      operator.withdrawConsent(
        { user: { name: { case: 'email', value: email } }, clientId },
        { timeoutMs: 3_000 },
      ),
    stop: async () => {
      await system.stop();
      await redis.stop();
      await Promise.all(Object.values(links).map((link) => link?.cut()));
    },
  } satisfies Target;
}

/**
 * A rotation of the signing keys, each step at another pod. The waits of a rotation (310 s staged, 960 s superseded) are made
 * short by older rows; every pod has its 10 s to follow (R17.1), and the workload tells when one has not.
 */
async function rotateKeys({ stack, pods }: System): Promise<void> {
  const services = pods.map(({ operator }) => callService(KeyService, operator));
  const old = new Set((await services[0]?.listKeys({}))?.keys.map(({ kid }) => kid));
  for (const [at, seconds] of [0, 310, 960].entries()) {
    await withClient(`${stack.postgres}`, (client) => client.query(older, [seconds]));
    await services[at % services.length]?.rotateKeys({ continueOnly: at > 0 });
    await sleep(10_000);
  }
  const { keys = [] } = (await services[0]?.listKeys({})) ?? {};
  const isOver = keys.every(({ state, kid }) => state === KeyState.ACTIVE && !old.has(kid));
  if (keys.length === 0 || !isOver) throw new Error('The old keys are not retired.');
}

const older = `update identity.signing_keys set published_at = published_at - make_interval(secs => $1),
  activated_at = activated_at - make_interval(secs => $1),
  superseded_at = superseded_at - make_interval(secs => $1)`;

const password = 'faults';

interface Process {
  readonly kill: (how?: 'asked') => Promise<unknown>;
  /** Resolves when what it is there for can be had again. */
  readonly start: () => Promise<unknown>;
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  /** Resolves when it serves, after SIGCONT. */
  readonly ready: () => Promise<unknown>;
}

async function startRedisPair() {
  const servers = await openServers();
  const ports = await choosePorts(['one', 'two']);
  /** From identity to the primary, and from the replica to the primary. */
  const [link, replication] = [await joinLink(), await joinLink()];
  const start = async (name: 'one' | 'two', ...more: readonly string[]) => {
    const port = ports[name];
    const access = [`requirepass ${password}`, `masterauth ${password}`, `user ${identityUser(password)}`];
    const lines = [...durableAt(port), ...access, 'min-replicas-to-write 1', ...more];
    const server = await servers.start({ name, lines, look: { port, password } });
    return { ...server, port, home: join(servers.directory, name) };
  };
  const leadTo = ({ port }: { readonly port: number }) => [link, replication].map((way) => way.leadTo(port));
  leadTo({ port: ports.one });
  let primary = await start('one');
  let replica = await start('two', `replicaof 127.0.0.1 ${replication.port}`);
  const synced = () => until('the replica is in sync', () => hasReplicas(primary.admin));
  await synced();

  /** What the server is from now on, also when it starts again. */
  async function become({ admin }: TestServer, ...primaryAt: [string, number | string]): Promise<void> {
    await admin.replicaof(...primaryAt);
    await admin.config('REWRITE');
  }
  const asProcess = (server: TestServer): Process => ({
    kill: async () => server.kill('SIGKILL'),
    start: () => server.restart().then(synced),
    signal: server.kill,
    ready: synced,
  });
  return {
    url: redisUrl(link.port, password, 'identity'),
    link,
    primary: () => asProcess(primary),
    replica: () => asProcess(replica),
    /** The replica lags; then the primary dies, and the replica takes its place. To undo it is to make the dead one a replica. */
    promote: async (lag: () => Promise<unknown>) => {
      replication.mute();
      await lag();
      primary.kill('SIGKILL');
      await Promise.all([replication.cut(), link.cut()]);
      [primary, replica] = [replica, primary];
      await become(primary, 'NO', 'ONE');
      leadTo(primary);
      await Promise.all([replication.join(), link.join()]);
      return async () => {
        await replica.restart();
        await become(replica, '127.0.0.1', replication.port);
        await synced();
      };
    },
    /** The file that it appends to may grow by less than the next writes need; resolves when the primary has ended for it. */
    fillDisk: async (): Promise<void> => {
      const files = join(primary.home, 'appendonlydir');
      const appended = readdirSync(files).filter((name) => name.includes('.incr.'));
      const sizes = appended.map((name) => statSync(join(files, name)).size);
      const limit = `--fsize=${Math.max(...sizes) + 100}`;
      const { status, stderr } = spawnSync('prlimit', ['--pid', `${primary.pid()}`, limit]);
      if (status !== 0) throw new Error(`prlimit: ${stderr}`);
      await until('the primary has ended', () => primary.admin.status !== 'ready');
    },
    stop: async () => {
      await servers.stop();
      await Promise.all([link.cut(), replication.cut()]);
    },
  };
}
