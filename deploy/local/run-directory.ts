// The directory of one stack's files: `.run` of the checkout, or another for a private stack.
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

export type RunDirectory = ReturnType<typeof openRunDirectory>;

export const checkout = resolve(import.meta.dirname, '../..');

export function openRunDirectory(path: string = join(checkout, '.run')) {
  makeDirectory(join(path, 'logs'));
  const home = realpathSync(path);
  const key = createHash('sha256').update(home).digest('hex').slice(0, 16);
  const sockets = openSockets(join(home, 'sockets'), key);
  return {
    home,
    logs: join(home, 'logs'),
    data: join(home, 'data'),
    sockets,
    stackFile: join(home, 'stack.json'),
    portsFile: join(home, 'ports.json'),
    processesFile: join(home, 'processes.json'),
    secretsFile: join(home, 'data', 'secrets.json'),
    seedFile: join(home, 'data', 'seed.json'),
    controlTokenFile: join(home, 'control-token'),
    otherPostgres: `/var/lib/course-exchange/${key}`,
    key,
  };
}

/** Bytes of a socket's path: Linux takes 107, macOS 103. */
const longestSocketPath = 103;
const longestSocketName = 'design-catalog-feed';

/** The directory of the sockets of operators and feed, for this account alone: `path`, or a short one. */
function openSockets(path: string, key: string): string {
  const fits = Buffer.byteLength(join(path, longestSocketName)) <= longestSocketPath;
  const directory = fits ? path : `/tmp/course-exchange-${key}`;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const found = lstatSync(directory);
  if (directory !== path && !(found.isDirectory() && found.uid === process.getuid?.()))
    throw new Error(`${directory} is no directory of this account: choose a shorter --run-dir.`);
  chmodSync(directory, 0o700);
  return directory;
}

export function commandFor({ home }: RunDirectory, name: string): string {
  const command = `npx --yes pnpm@12 ${name}`;
  if (home === join(checkout, '.run')) return command;
  return `${command} --run-dir ${/^[\w./-]+$/.test(home) ? home : `'${home.replaceAll("'", "'\\''")}'`}`;
}

export function rotateLogs({ logs }: RunDirectory): void {
  for (const name of readdirSync(logs)) {
    if (name.endsWith('.log') && name !== 'supervisor.log')
      renameSync(join(logs, name), join(logs, `${name}.1`));
  }
}

/** Level by level: Node's recursive mkdir never returns where a level can neither be made nor be there. */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(directory).isDirectory()) return;
    if (code !== 'ENOENT' || dirname(directory) === directory) throw error;
    makeDirectory(dirname(directory));
    mkdirSync(directory);
  }
}

/** A directory through which Postgres' account reaches what is its own, whatever the umask. */
export function makePassable(directory: string): void {
  makeDirectory(directory);
  chmodSync(directory, 0o711);
}

/** Atomic; readable by its owner alone. */
export function writeWhole(file: string, value: unknown): void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
}

export function readJson<T>(file: string, absent?: T): T {
  if (absent !== undefined && !existsSync(file)) return absent;
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

/** Those of deploy/postgres/roles.sql that log in. */
export const roles = [
  'identity_migrator',
  'catalog_migrator',
  'identity_rw',
  'identity_operator',
  'catalog_ro',
  'catalog_feed',
] as const;
export type Role = (typeof roles)[number];

const secretNames = [
  ...roles,
  'postgresSuperuser',
  'redis',
  'redisIdentity',
  'keyEncryption',
  'userHash',
  'partnerTokenEncryption',
] as const;

/** Each 32 random bytes, base64url, made once and kept beside the data that they open. */
export type StackSecrets = Readonly<Record<(typeof secretNames)[number], string>>;

export function loadSecrets({ data, secretsFile }: RunDirectory): StackSecrets {
  makePassable(data);
  const known = readJson<Partial<StackSecrets>>(secretsFile, {});
  const entries = secretNames.map((name) => [name, known[name] ?? randomBytes(32).toString('base64url')]);
  const secrets = Object.fromEntries(entries) as StackSecrets;
  writeWhole(secretsFile, secrets);
  return secrets;
}

/** For fetched and compiled programs, and ports that were just chosen; never data: it outlives a checkout. */
export function cacheDirectory(): string {
  const base = process.env.XDG_CACHE_HOME;
  return join(base?.startsWith('/') ? base : resolve(homedir(), '.cache'), 'course-exchange');
}
