// The two migration jobs as programs on a database of their own, with the roles and passwords that an operator makes.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';

const repository = new URL('../../', import.meta.url).pathname;
export type Job = 'identity' | 'design-catalog';
type Role =
  | 'identity_migrator'
  | 'identity_rw'
  | 'identity_operator'
  | 'catalog_migrator'
  | 'catalog_ro'
  | 'catalog_feed';
const roles: readonly Role[] = [
  'identity_migrator',
  'identity_rw',
  'identity_operator',
  'catalog_migrator',
  'catalog_ro',
  'catalog_feed',
];

export interface JobDatabase {
  readonly name: string;
  /** Address for a role, with its password. */
  readonly as: (role: Role) => string;
  /** As superuser in this database. */
  readonly sql: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  readonly superuser: string;
  readonly close: () => Promise<void>;
}

/** A new database; `prepared`: with roles and passwords. */
export async function openJobDatabase(prepared = true): Promise<JobDatabase> {
  const server = process.env.TEST_POSTGRES_URL;
  if (!server) throw new Error('TEST_POSTGRES_URL is missing: run this suite through test/run.ts');
  const name = `job_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await once(server, `create database ${name}`);
  const superuser = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  if (prepared) {
    await once(superuser, readFileSync(`${repository}deploy/postgres/roles.sql`, 'utf8'));
    for (const role of roles) await once(superuser, `alter role ${role} password '${password}'`);
  }
  return {
    name,
    superuser,
    as: (role) => Object.assign(new URL(superuser), { username: role, password }).href,
    sql: (text, values = []) => once(superuser, text, values),
    close: async () => {
      await once(server, `drop database ${name} with (force)`);
    },
  };
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
  readonly said: (message: 'check failed' | 'check warns' | 'check left out') => readonly string[];
  readonly passed: readonly string[];
}

export function runJob(
  job: Job,
  environment: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<Ending> {
  const program = `${repository}services/${job}/src/migrate.ts`;
  const { PATH = '', HOME = '/' } = process.env;
  const child = spawn(process.execPath, [program, ...words], { env: { PATH, HOME, ...environment } });
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

function endingOf(code: number | null, output: string): Ending {
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
