// Databases of their own, with the roles and passwords that an operator makes, and the two migration jobs as programs.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Role, roles } from '@course-exchange/local-stack/run-directory';
import pg from 'pg';

const repository = new URL('../../', import.meta.url).pathname;
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

export type JobDatabase = Awaited<ReturnType<typeof openJobDatabase>>;

/** For what does not turn on a time: how long statements and connections may take where the machine stands still meanwhile. */
export const patient = { statementTimeoutMs: 30_000, connectMs: 30_000 } as const;

/** A new database; `prepared`: with roles and passwords. */
export async function openJobDatabase(prepared = true) {
  const server = process.env.TEST_POSTGRES_URL;
  if (!server) throw new Error('TEST_POSTGRES_URL is missing: this suite runs by test/vitest.config.ts');
  const name = `job_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await once(server, `create database ${name}`);
  const superuser = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  if (prepared) {
    await once(superuser, readFileSync(`${repository}deploy/postgres/roles.sql`, 'utf8'));
    for (const role of roles) await once(superuser, `alter role ${role} password '${password}'`);
  }
  const as = (role: Role) => Object.assign(new URL(superuser), { username: role, password }).href;
  return {
    name,
    superuser,
    /** Address for a role, with its password. */
    as,
    /** What an installation tells a job of its accounts. */
    settings: (job: Job) =>
      Object.fromEntries(Object.entries(accounts[job]).map(([setting, role]) => [setting, as(role)])),
    /** As superuser in this database. */
    sql: (text: string, values: unknown[] = []) => once(superuser, text, values),
    close: async () => {
      await untilLeft(server, name);
      await once(server, `drop database ${name} with (force)`);
    },
  };
}

/** A connection that is ending is no longer listened to: being told to go then would be nobody's to catch. */
async function untilLeft(server: string, database: string): Promise<void> {
  const connected = () => once(server, 'select from pg_stat_activity where datname = $1', [database]);
  for (let round = 0; round < 100 && (await connected()).length > 0; round++) await sleep(50);
}

async function once(url: string, text: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text, values)).rows ?? [];
  } finally {
    await client.end();
  }
}

export interface Ending {
  readonly code: number | null;
  /** Everything that it said. */
  readonly output: string;
  /** The sentences of its findings, by `message`. */
  readonly said: (message: 'check failed' | 'check warns' | 'check skipped') => readonly string[];
  readonly passed: readonly string[];
}

export function runJob(
  job: Job,
  environment: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<Ending> {
  const program = `${repository}services/${job}/src/migrate.ts`;
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE, ...environment };
  const child = spawn(process.execPath, [program, ...words], { env });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done(endingOf(code, output)));
  });
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
