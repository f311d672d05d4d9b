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
  if (process.env.DOCKER_HOST || !isRootOnLinux()) throw new Error(wanted);
  const there = onPath('dockerd');
  if (!obtain('dockerd', ['docker.io', 'iptables'], say)) throw new Error(wanted);
  // The package starts one itself where there is an init system.
  for (let tries = 0; !there && tries < 15; tries += 1, await sleep(200)) {
    const started = clientFor(given);
    if (started) return { host: given, client: started, stop: async () => {} };
  }
  say('Starting a Docker engine …');
  return startEngine();
}

/** A client that reaches the engine at `host`; clients newer or older than it may not. */
function clientFor(host: string): string | undefined {
  const clients = process.env.DOCKER ? [process.env.DOCKER] : ['docker', '/usr/bin/docker'];
  const words = ['--host', host, 'version', '--format', '{{.Server.Version}}'];
  return clients.find((client) => spawnSync(client, words, { timeout: 10_000 }).status === 0);
}

async function startEngine(): Promise<Engine> {
  mkdirSync(home, { recursive: true, mode: 0o711 });
  const host = `unix://${home}/docker.sock`;
  const log = openSync(join(home, 'dockerd.log'), 'a');
  const places = [`--data-root=${home}/root`, `--exec-root=${home}/exec`, `--pidfile=${home}/docker.pid`];
  const daemon = spawn('dockerd', [...places, `--host=${host}`], {
    stdio: ['ignore', log, log],
    detached: true,
  });
  let ended = false;
  daemon.once('exit', () => {
    ended = true;
  });
  for (const end = Date.now() + 120_000; Date.now() < end && !ended; await sleep(200)) {
    const client = clientFor(host);
    if (client) return { host, client, stop: () => stopDaemon(daemon.pid ?? 0, () => ended) };
  }
  if (!ended) process.kill(daemon.pid ?? 0, 'SIGTERM');
  throw new Error(`The Docker engine does not start; ${home}/dockerd.log says why.`);
}

async function stopDaemon(pid: number, ended: () => boolean): Promise<void> {
  if (!ended()) process.kill(pid, 'SIGTERM');
  for (const end = Date.now() + 60_000; Date.now() < end && !ended(); await sleep(100));
}

export function onPath(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}

function isRootOnLinux(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0;
}

/** Installs Debian's packages where `program` is missing; says whether it is there now. */
export function obtain(program: string, packages: readonly string[], say: (line: string) => void): boolean {
  if (onPath(program)) return true;
  if (!isRootOnLinux() || !onPath('apt-get')) return false;
  say(`Installing ${packages.join(', ')} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // Another may be installing something, or the mirror say nothing for a moment.
  const patient = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3'];
  const apt = (...words: string[]) =>
    spawnSync('apt-get', [...patient, ...words], { stdio: ['ignore', 'ignore', 'inherit'], env });
  apt('update', '-qq');
  apt('install', '-y', '-qq', '--no-install-recommends', ...packages);
  return onPath(program);
}
