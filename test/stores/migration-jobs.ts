// The two migration jobs as programs, with what an installation tells them, and what they say.
import type { Role } from '@course-exchange/local-stack/run-directory';
import { startProcess } from '../support/process.ts';
import type { JobDatabase } from './postgres.ts';

type Job = 'identity' | 'design-catalog';

/** The accounts that each job is told. */
const accounts: Readonly<Record<Job, Readonly<Record<string, Role>>>> = {
  identity: {
    MIGRATOR_POSTGRES_URL: 'identity_migrator',
    POSTGRES_URL: 'identity_rw',
    OPERATOR_POSTGRES_URL: 'identity_operator',
  },
  'design-catalog': {
    MIGRATOR_POSTGRES_URL: 'catalog_migrator',
    POSTGRES_URL: 'catalog_ro',
    FEED_POSTGRES_URL: 'catalog_feed',
  },
};

/** What an installation tells a job of its accounts. */
export function accountsFor(job: Job, database: JobDatabase): Record<string, string> {
  const named = Object.entries(accounts[job]).map(([setting, role]) => [setting, database.as(role)]);
  return Object.fromEntries(named);
}

export interface Ending {
  readonly code: number | null;
  /** Everything that it said. */
  readonly output: string;
  /** The sentences of its findings, by `message`. */
  readonly said: (message: 'check failed' | 'check warns' | 'check skipped') => readonly string[];
  readonly passed: readonly string[];
}

export async function runJob(
  job: Job,
  environment: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<Ending> {
  const program = `services/${job}/src/migrate.ts`;
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE, ...environment };
  const { exit, out, err } = await startProcess(process.execPath, [program, ...words], env).ended;
  return endingOf(exit, out + err);
}

export function endingOf(code: number | null, output: string): Ending {
  const lines = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { message: string; check: string; sentence: string });
  return {
    code,
    output,
    said: (message) => lines.filter((line) => line.message === message).map(({ sentence }) => sentence),
    passed: lines.filter(({ message }) => message === 'check passed').map(({ check }) => check),
  };
}
