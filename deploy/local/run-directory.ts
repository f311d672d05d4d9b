// Where one stack keeps its files: `.run` of the checkout, or another directory for a private stack.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface RunDirectory {
  readonly home: string;
  readonly logs: string;
  readonly data: string;
  /** Written when everything answers, gone when the stack is. */
  readonly stackFile: string;
  readonly portsFile: string;
  /** What was started, so that the next start can tell what a killed one left. */
  readonly processesFile: string;
  readonly secretsFile: string;
  /** What --seed files have brought into the data. */
  readonly seedFile: string;
  /** Opens the supervisor's control socket. */
  readonly controlTokenFile: string;
  /** Used for Postgres' data when its account cannot reach `data`. */
  readonly otherPostgres: string;
  /** Tells stacks in different directories apart. */
  readonly key: string;
}

export const checkout = resolve(import.meta.dirname, '../..');

export function openRunDirectory(path: string = join(checkout, '.run')): RunDirectory {
  mkdirSync(join(path, 'logs'), { recursive: true });
  const home = realpathSync(path);
  const key = createHash('sha256').update(home).digest('hex').slice(0, 16);
  return {
    home,
    logs: join(home, 'logs'),
    data: join(home, 'data'),
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

/** The command that a person types for this stack: `name` is start, stop or status. */
export function commandFor({ home }: RunDirectory, name: string): string {
  const command = `npx --yes pnpm@12 ${name}`;
  if (home === join(checkout, '.run')) return command;
  return `${command} --run-dir ${/^[\w./-]+$/.test(home) ? home : `'${home.replaceAll("'", "'\\''")}'`}`;
}

/** Keeps each log of the run before under another name, so that a log tells of one run alone. */
export function rotateLogs({ logs }: RunDirectory): void {
  for (const name of readdirSync(logs)) {
    if (name.endsWith('.log') && name !== 'supervisor.log')
      renameSync(join(logs, name), join(logs, `${name}.1`));
  }
}

/** Deletes all data: the next start begins anew. */
export function eraseData(run: RunDirectory): void {
  for (const directory of [run.data, run.otherPostgres]) rmSync(directory, { recursive: true, force: true });
}

/** Readers see the file whole, before or after. Readable by its owner alone. */
export function writeWhole(file: string, value: unknown): void {
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinished, file);
}

export function removeFile(file: string): void {
  if (existsSync(file)) rmSync(file);
}
