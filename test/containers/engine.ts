// Finds a Docker engine, or installs and starts one where it may: root on a Debian. Else says what to install.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../check/step.ts';

export interface Engine {
  /** The value of DOCKER_HOST for clients. */
  readonly host: string;
  readonly client: string;
  readonly stop: () => Promise<unknown>;
}

const home = process.env.TEST_DOCKER_HOME ?? join(homedir(), '.cache/course-exchange/docker');
const wanted =
  'No Docker engine answers. Install one (on Debian as root: apt-get install docker.io; elsewhere Docker Desktop, ' +
  'Colima or Podman with its Docker socket), or name one by DOCKER_HOST, then start again.';
/** A run before this one may have the engine's folder for as long. */
const longestRunMs = 30 * 60_000;
const mayInstall = process.getuid?.() === 0 && onPath('apt-get');

export async function findEngine(): Promise<Engine> {
  const host = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock';
  const isInstalled = onPath('dockerd');
  let client = clientFor(host);
  if (client === undefined && (process.env.DOCKER_HOST || !mayInstall)) throw new Error(wanted);
  if (client === undefined && !obtain('dockerd', ['docker.io', 'iptables'])) throw new Error(wanted);
  // The package starts one itself where there is an init system.
  for (let tries = isInstalled ? 0 : 15; client === undefined && tries > 0; tries -= 1) {
    await sleep(200);
    client = clientFor(host);
  }
  if (client !== undefined) return { host, client, stop: async () => {} };
  console.log('Starting a Docker engine …');
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
  const host = `unix://${home}/docker-${process.pid}.sock`;
  const log = openSync(join(home, 'dockerd.log'), 'a');
  const places = [`--data-root=${home}/root`, `--exec-root=${home}/exec`, `--pidfile=${home}/docker.pid`];
  // It holds the lock while it runs: a run beside this one waits until the folder is free.
  const daemon = spawn('flock', ['--no-fork', `${home}/lock`, 'dockerd', ...places, `--host=${host}`], {
    stdio: ['ignore', log, log],
    detached: true,
  });
  const ended = once(daemon, 'exit');
  const stop = () => Promise.all([ended, daemon.kill('SIGTERM')]);
  for (
    const end = Date.now() + longestRunMs;
    Date.now() < end && daemon.exitCode === null;
    await sleep(200)
  ) {
    const client = clientFor(host);
    if (client === undefined) continue;
    // Each run's images replace those of the run before, which would fill the disk.
    spawnSync(client, ['--host', host, 'image', 'prune', '--force', '--filter', 'until=6h']);
    return { host, client, stop };
  }
  await stop();
  throw new Error(`The Docker engine does not start; ${home}/dockerd.log says why.`);
}

export function onPath(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));
}

/** Installs Debian's packages where `program` is missing; says whether it is there now. */
function obtain(program: string, packages: readonly string[]): boolean {
  if (onPath(program)) return true;
  if (!mayInstall) return false;
  console.log(`Installing ${packages.join(', ')} …`);
  // Another may be installing something, or the mirror say nothing for a moment.
  const patient = ['-qq', '-o', 'DPkg::Lock::Timeout=120', '-o', 'Acquire::Retries=3'];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const words of [['update'], ['install', '-y', '--no-install-recommends', ...packages]])
    spawnSync('apt-get', [...patient, ...words], { stdio: ['ignore', 'ignore', 'inherit'], env });
  return onPath(program);
}

const prefix = process.env.OFFLINE_IMAGE_PREFIX ?? 'course-exchange-offline';
const official = { postgres: 'postgres:18', redis: 'redis:8' };
const ownStores = { postgres: `${prefix}/postgres:18`, redis: `${prefix}/redis:7` };
const ownBases = [`${prefix}/run:bookworm`, `${prefix}/build:bookworm`];

const collector = {
  official: 'docker.io/otel/opentelemetry-collector-contrib:0.160.0',
  own: `${prefix}/otelcol:0`,
};

/** Gives the variables that name the images. Throws a sentence that says what is missing. */
export function prepareImages({ host, client }: Engine) {
  const { IMAGE_TAG, POSTGRES_IMAGE, REDIS_IMAGE } = process.env;
  const env = { IMAGE_TAG: 'test', ...process.env, DOCKER_HOST: host, DOCKER: client };
  const engine = (...words: string[]) =>
    spawnSync(client, words, { env, stdio: 'ignore', timeout: 120_000 }).status === 0;
  const run = (program: string, ...words: string[]): void => {
    if (spawnSync(program, words, { cwd: root, env, stdio: 'inherit' }).status !== 0)
      throw new Error(`${words.join(' ')} failed; the lines above say why.`);
  };
  const has = (image: string) => engine('image', 'inspect', image);
  const isAvailable = (image: string) => has(image) || engine('pull', '--quiet', image);
  const make = (...names: readonly string[]) => run('bash', '.ci/offline-images/make.sh', ...names);

  const isOffline = !Object.values(official).every(isAvailable);
  if (isOffline) {
    console.log('No registry answers: the images are made from packages.');
    const missing = Object.entries(ownStores).flatMap(([name, image]) => (has(image) ? [] : [name]));
    // Their script says what to do where it is missing.
    if (missing.length > 0 || !ownBases.every(has)) obtain('debootstrap', ['debootstrap']);
    if (missing.length > 0) make(...missing);
  }
  const stores = isOffline ? ownStores : official;
  if (IMAGE_TAG === undefined)
    run(process.execPath, 'deploy/images/build.ts', ...(isOffline ? ['--offline'] : []));
  return {
    images: {
      IMAGE_TAG: IMAGE_TAG ?? 'test',
      POSTGRES_IMAGE: POSTGRES_IMAGE ?? stores.postgres,
      REDIS_IMAGE: REDIS_IMAGE ?? stores.redis,
    },
    /** Empty where there is none. */
    collectorImage: (): string => {
      if (process.env.COLLECTOR_IMAGE !== undefined) return process.env.COLLECTOR_IMAGE;
      if (has(collector.own)) return collector.own;
      if (isAvailable(collector.official)) return collector.official;
      if (onPath('go')) make('otelcol');
      else
        console.log(
          'NOT RUN what the Collector keeps: no Go builds it, and COLLECTOR_IMAGE names no image of it',
        );
      return onPath('go') ? collector.own : '';
    },
  };
}
