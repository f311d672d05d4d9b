// Prepares the database: made once, roles by deploy/postgres/roles.sql, their passwords, both migrations.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { postgresUrl } from './embedded-postgres.ts';
import { runToEnd } from './members.ts';
import type { Processes } from './processes.ts';
import { checkout } from './run-directory.ts';
import { nodeProgram, type StackPlan } from './service-members.ts';
import { database } from './store-members.ts';

export async function prepareDatabase(plan: StackPlan): Promise<void> {
  const { ports, secrets } = plan;
  const superuser = (name: string) =>
    postgresUrl(ports.postgres, 'postgres', secrets.postgresSuperuser, name);
  await withClient(superuser('postgres'), async (client) => {
    const found = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`create database ${database}`);
  });
  await withClient(superuser(database), async (client) => {
    await client.query(readFileSync(join(checkout, 'deploy/postgres/roles.sql'), 'utf8'));
    const passwords = {
      identity_migrator: secrets.identityMigrator,
      catalog_migrator: secrets.catalogMigrator,
      identity_rw: secrets.identityReadWrite,
      identity_operator: secrets.identityOperator,
      catalog_ro: secrets.catalogReadOnly,
      catalog_feed: secrets.catalogFeed,
    };
    for (const [role, password] of Object.entries(passwords)) {
      await client.query(`alter role ${role} password ${client.escapeLiteral(password)}`);
    }
  });
}

/** Both migrations, each as a program of its own, as a deployment runs them. */
export async function migrateBoth(processes: Processes, plan: StackPlan): Promise<void> {
  const { ports, secrets } = plan;
  const identity = nodeProgram(plan, 'identity migrations', 'identity/src/migrate.ts', {
    MIGRATOR_POSTGRES_URL: postgresUrl(
      ports.postgres,
      'identity_migrator',
      secrets.identityMigrator,
      database,
    ),
    KEY_ENCRYPTION_KEY: secrets.keyEncryption,
  });
  const catalog = nodeProgram(plan, 'design-catalog migrations', 'design-catalog/src/migrate.ts', {
    MIGRATOR_POSTGRES_URL: postgresUrl(ports.postgres, 'catalog_migrator', secrets.catalogMigrator, database),
  });
  await Promise.all([runToEnd(processes, identity), runToEnd(processes, catalog)]);
}

/** Runs `work` on one connection and closes it. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
