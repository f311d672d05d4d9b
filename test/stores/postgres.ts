// Databases on the throwaway Postgres, one for each test file that asks: with the roles of an installation, and for each
// schema its migrations and connections by the service's own pool.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { withClient } from '@course-exchange/local-stack/postgres';
import { type Role, roles } from '@course-exchange/local-stack/run-directory';
import { migrate } from '@course-exchange/runtime/postgres/migrate';
import { type Database, openDatabase } from '@course-exchange/runtime/postgres/pool';
import { createLogger } from '@course-exchange/runtime/process/logger';
import pg from 'pg';
import { afterAll } from 'vitest';
import { startProcess } from '../support/process.ts';

export { withClient };

const repository = join(import.meta.dirname, '../../');
const roleScript = readFileSync(`${repository}deploy/postgres/roles.sql`, 'utf8');

/** For what does not depend on time: how long statements and connections may take if the machine stalls meanwhile. */
export const patient = { statementTimeoutMs: 30_000, connectMs: 30_000 } as const;

export type JobDatabase = Awaited<ReturnType<typeof openJobDatabase>>;
export type IdentityDatabase = Awaited<ReturnType<typeof openIdentityDatabase>>;
export type CatalogDatabase = Awaited<ReturnType<typeof openCatalogDatabase>>;

/** A new database without a schema, with the roles and passwords that an operator makes. */
export async function openJobDatabase() {
  const server = process.env.TEST_POSTGRES_URL ?? '';
  const name = `job_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await once(server, `create database ${name}`);
  const superuser = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  const passwords = roles.map((role) => `alter role ${role} password '${password}';`);
  await once(superuser, roleScript + passwords.join(''));
  return {
    name,
    superuser,
    /** Address for a role, with its password. */
    as: (role: Role) => Object.assign(new URL(superuser), { username: role, password }).href,
    sql: (text: string, values: unknown[] = []) => once(superuser, text, values),
    close: async () => {
      // A connection that is ending is no longer listened to: no handler would catch its termination.
      const connected = () => once(server, 'select from pg_stat_activity where datname = $1', [name]);
      for (let round = 0; round < 100 && (await connected()).length > 0; round++) await sleep(50);
      await once(server, `drop database ${name} with (force)`);
    },
  };
}

async function once(url: string, text: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
  return withClient(url, async (client) => (await client.query(text, values)).rows ?? []);
}

const open = (schema: 'identity' | 'catalog', url: string, poolSize: number, readOnly = false): Database =>
  openDatabase({
    ...{ url, poolSize, readOnly, schema, ...patient },
    applicationName: `${schema} test`,
    logger: createLogger('test', 'error', () => {}),
  });

/** A migrated database of identity; `close` drops it. */
export async function openIdentityDatabase() {
  const job = await openJobDatabase();
  await migrate(job.superuser, 'identity', `${repository}services/identity/migrations`);
  const database = open('identity', job.as('identity_rw'), 50);
  const operator = open('identity', job.as('identity_operator'), 25);
  const owner = open('identity', job.superuser, 4);
  return {
    database,
    operator,
    /** As superuser, through the service's own driver. */
    owner,
    /** As superuser: what operators and seeds do. */
    sql: async (text: string, values: unknown[] = []) =>
      owner.query<Record<string, unknown>>({ name: '', text }, values),
    close: async () => {
      await Promise.all([database.close(), operator.close(), owner.close()]);
      await job.close();
    },
  };
}

/** A migrated catalog, with a limit of the superuser's connections. */
export async function openCatalogDatabase(connections = 10) {
  const job = await openJobDatabase();
  await migrate(job.superuser, 'catalog', `${repository}services/design-catalog/migrations`);
  /** Superuser's connections, search path `catalog`. */
  const writer = new pg.Pool({
    connectionString: job.superuser,
    max: connections,
    options: '-c search_path=catalog -c timezone=UTC',
  });
  const readerUrl = job.as('catalog_ro');
  const reader = open('catalog', readerUrl, 2, true);
  const feed = open('catalog', job.as('catalog_feed'), 8);
  const close = async () => {
    await Promise.all([writer.end(), reader.close(), feed.close()]);
    await job.close();
  };
  return { writer, reader, readerUrl, feed, close };
}

async function forThisFile<T extends { readonly close: () => Promise<void> }>(
  opening: Promise<T>,
): Promise<T> {
  const opened = await opening;
  afterAll(opened.close);
  return opened;
}
/** As Postgres refuses a statement, with a SQLSTATE. */
export const refused = (code: string) => Object.assign(new pg.DatabaseError('canary', 0, 'error'), { code });

export const useJobDatabase = () => forThisFile(openJobDatabase());
export const useIdentityDatabase = () => forThisFile(openIdentityDatabase());
export const useCatalogDatabase = (connections?: number) => forThisFile(openCatalogDatabase(connections));

/** The accounts that an installation gives to each job. */
export const accountsFor = ({ as }: JobDatabase) => ({
  identity: {
    MIGRATOR_POSTGRES_URL: as('identity_migrator'),
    POSTGRES_URL: as('identity_rw'),
    OPERATOR_POSTGRES_URL: as('identity_operator'),
  },
  'design-catalog': {
    MIGRATOR_POSTGRES_URL: as('catalog_migrator'),
    POSTGRES_URL: as('catalog_ro'),
    FEED_POSTGRES_URL: as('catalog_feed'),
  },
});

export async function runJob(
  job: 'identity' | 'design-catalog',
  environment: Readonly<Record<string, string>>,
  ...words: string[]
): Promise<ReturnType<typeof endingOf>> {
  const program = `services/${job}/src/migrate.ts`;
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE, ...environment };
  const { exit, out, err } = await startProcess(process.execPath, [program, ...words], env).ended;
  return endingOf(exit, out + err);
}

export function endingOf(code: number | null, output: string) {
  const lines = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { message: string; check: string; sentence: string });
  return {
    code,
    output,
    /** The sentences of its findings, by `message`. */
    said: (message: 'check failed' | 'check warns' | 'check skipped') =>
      lines.filter((line) => line.message === message).map(({ sentence }) => sentence),
    passed: lines.filter(({ message }) => message === 'check passed').map(({ check }) => check),
  };
}
