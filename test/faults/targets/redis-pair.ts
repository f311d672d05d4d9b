// A primary of Redis and its replica, which may take its place. There is no Sentinel: the nemesis is it.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { identityUser, redisUrl } from '@course-exchange/local-stack/redis';
import { durableAt, hasReplicas, openServers, type TestServer, until } from '../../stores/redis-servers.ts';
import { joinLink } from '../../support/tcp-link.ts';

const password = 'faults';

export interface Process {
  readonly kill: (how?: 'asked') => Promise<unknown>;
  /** Resolves when what it is there for can be had again. */
  readonly start: () => Promise<unknown>;
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  /** Resolves when it serves, after SIGCONT. */
  readonly ready: () => Promise<unknown>;
}

interface Server extends TestServer {
  readonly port: number;
  readonly home: string;
}

export async function startRedisPair() {
  const servers = await openServers();
  const ports = await choosePorts(['one', 'two']);
  /** From identity to the primary, and from the replica to the primary. */
  const [link, replication] = [await joinLink(), await joinLink()];
  const start = async (name: 'one' | 'two', ...more: readonly string[]): Promise<Server> => {
    const port = ports[name];
    const access = [`requirepass ${password}`, `masterauth ${password}`, `user ${identityUser(password)}`];
    const lines = [...durableAt(port), ...access, 'min-replicas-to-write 1', ...more];
    const server = await servers.start({ name, lines, look: { port, password } });
    return { ...server, port, home: join(servers.directory, name) };
  };
  const leadTo = ({ port }: Pick<Server, 'port'>) => [link, replication].map((way) => way.leadTo(port));
  leadTo({ port: ports.one });
  let primary = await start('one');
  let replica = await start('two', `replicaof 127.0.0.1 ${replication.port}`);
  const synced = () => until('the replica is in sync', () => hasReplicas(primary.admin));
  await synced();

  /** What the server is from now on, also when it starts again. */
  async function become({ admin }: Server, ...primaryAt: [string, number | string]): Promise<void> {
    await admin.replicaof(...primaryAt);
    await admin.config('REWRITE');
  }
  const asProcess = (server: Server): Process => ({
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
