// Fetches Debian's Redis with apt and unpacks it into the cache: no root, nothing registered with the system.
import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RedisServer, underServersName } from './redis-server.ts';

const run = promisify(execFile);

/** The server's program is in redis-tools; the libraries are what a small system lacks. */
const packages = ['redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1', 'libssl3'];

/** The unpacked server, fetched when it is not there yet; undefined where apt or the network is missing. */
export async function unpackDebianRedis(cache: string): Promise<RedisServer | undefined> {
  const home = join(cache, 'debian-redis');
  const unpacked = serverIn(home);
  if (unpacked) return unpacked;
  const unfinished = `${home}.${process.pid}`;
  try {
    await fetchAndUnpack(unfinished);
    rmSync(home, { recursive: true, force: true });
    renameSync(unfinished, home);
  } catch {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return serverIn(home);
}

function serverIn(home: string): RedisServer | undefined {
  if (!existsSync(home)) return undefined;
  const libraries = globSync('usr/lib/*-linux-gnu*', { cwd: home }).map((directory) => join(home, directory));
  const path = libraries.join(':');
  const command = underServersName(join(home, 'usr/bin/redis-check-aof'), join(home, 'server'), path);
  return command ? { kind: 'program', command, libraries: path } : undefined;
}

async function fetchAndUnpack(home: string): Promise<void> {
  const lists = join(home, 'apt');
  mkdirSync(join(lists, 'lists', 'partial'), { recursive: true });
  if (!(await download(home, []))) {
    // No package lists on this system: fetch them into a place of our own.
    const own = ['-o', `Dir::State::Lists=${join(lists, 'lists')}`, '-o', `Dir::Cache=${lists}`];
    await run('apt-get', [...sandbox, ...own, 'update'], { cwd: home, timeout: 180_000 });
    if (!(await download(home, own))) throw new Error('redis-tools could not be fetched');
  }
  for (const file of readdirSync(home).filter((name) => name.endsWith('.deb'))) {
    await run('dpkg', ['-x', file, '.'], { cwd: home });
    rmSync(join(home, file));
  }
  rmSync(lists, { recursive: true, force: true });
}

/** apt's own user cannot write into a private cache. */
const sandbox = ['-q', '-o', 'APT::Sandbox::User=root'];

async function download(home: string, own: readonly string[]): Promise<boolean> {
  let complete = true;
  for (const name of packages) {
    const fetched = await run('apt-get', [...sandbox, ...own, 'download', name], {
      cwd: home,
      timeout: 120_000,
    }).then(
      () => true,
      () => false,
    );
    // Libraries have other names on other systems, and most are there already: the server itself decides.
    if (!fetched && name === 'redis-tools') complete = false;
    if (!complete) break;
  }
  return complete;
}
