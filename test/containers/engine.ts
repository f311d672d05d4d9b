// Finds a Docker engine, or installs and starts one where it may: root on a Debian. Else says what to install.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRootOnLinux, obtain, onPath } from './programs.ts';

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
  return clients.find((client) => answers(client, host));
}

function answers(client: string, host: string): boolean {
  const call = spawnSync(client, ['--host', host, 'version', '--format', '{{.Server.Version}}'], {
    timeout: 10_000,
    encoding: 'utf8',
  });
  return call.status === 0;
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
