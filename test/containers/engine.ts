// Finds a Docker engine, or installs and starts one where it may: root on a Debian. Else says what to install.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Engine {
  /** The value of DOCKER_HOST for clients. */
  readonly host: string;
  /** The client program. */
  readonly client: string;
  /** Stops the engine where it was started here. */
  readonly stop: () => Promise<void>;
}

const home = process.env.TEST_DOCKER_HOME ?? join(homedir(), '.cache/course-exchange/docker');
const wanted =
  'No Docker engine answers. Install one (on Debian as root: apt-get install docker.io; elsewhere Docker Desktop, ' +
  'Colima or Podman with its Docker socket), or name one by DOCKER_HOST, then start again.';

/** Rejects with one sentence that says what to install. */
export async function findEngine(say: (line: string) => void): Promise<Engine> {
  const given = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock';
  const client = clientFor(given);
  if (client) return { host: given, client, stop: async () => {} };
  const mayInstall = process.platform === 'linux' && process.getuid?.() === 0 && !process.env.DOCKER_HOST;
  if (!mayInstall) throw new Error(wanted);
  if (!onPath('dockerd')) {
    if (!onPath('apt-get')) throw new Error(wanted);
    say('Installing a Docker engine (docker.io) …');
    spawnSync('apt-get', ['update', '-qq'], { stdio: 'ignore' });
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'docker.io', 'iptables'], {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
  if (!onPath('dockerd')) throw new Error(wanted);
  say('Starting a Docker engine …');
  return startEngine();
}

/** A client that reaches the engine at `host`; clients newer or older than it may not. */
function clientFor(host: string): string | undefined {
  const clients = process.env.DOCKER ? [process.env.DOCKER] : ['docker', '/usr/bin/docker'];
  return clients.find((client) => answers(client, host));
}

function answers(client: string, host: string): boolean {
  const call = spawnSync(client, ['--host', host, 'version', '--format', '{{.Server.Version}}'], {
    timeout: 10_000,
    encoding: 'utf8',
  });
  return call.status === 0;
}

function onPath(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}

async function startEngine(): Promise<Engine> {
  mkdirSync(home, { recursive: true, mode: 0o711 });
  const host = `unix://${home}/docker.sock`;
  const log = openSync(join(home, 'dockerd.log'), 'a');
  const daemon = spawn(
    'dockerd',
    [
      '--data-root',
      `${home}/root`,
      '--exec-root',
      `${home}/exec`,
      '--pidfile',
      `${home}/docker.pid`,
      '--host',
      host,
    ],
    { stdio: ['ignore', log, log], detached: true },
  );
  let ended = false;
  daemon.once('exit', () => {
    ended = true;
  });
  for (const end = Date.now() + 30_000; Date.now() < end && !ended; await sleep(200)) {
    const client = clientFor(host);
    if (client) return { host, client, stop: () => stopDaemon(daemon.pid ?? 0, () => ended) };
  }
  if (!ended) process.kill(daemon.pid ?? 0, 'SIGTERM');
  throw new Error(`The Docker engine does not start; ${home}/dockerd.log says why.`);
}

async function stopDaemon(pid: number, ended: () => boolean): Promise<void> {
  if (!ended()) process.kill(pid, 'SIGTERM');
  for (const end = Date.now() + 20_000; Date.now() < end && !ended(); await sleep(100));
}
