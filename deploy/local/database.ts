// Prepares the database: made once, roles by deploy/postgres/roles.sql, their passwords, both migrations.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runToEnd } from './component.ts';
import type { StackPlan } from './plan.ts';
import { database, databaseUrl, withClient } from './postgres.ts';
import type { Processes } from './processes.ts';
import { checkout, roles } from './run-directory.ts';
import { nodeProgram } from './services.ts';

export async function prepareDatabase(plan: StackPlan): Promise<void> {
  await withClient(databaseUrl(plan, 'postgres', 'postgres'), async (client) => {
    const found = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`create database ${database}`);
  });
  await withClient(databaseUrl(plan, 'postgres'), async (client) => {
    await client.query(readFileSync(join(checkout, 'deploy/postgres/roles.sql'), 'utf8'));
    for (const role of roles)
      await client.query(`alter role ${role} password ${client.escapeLiteral(plan.secrets[role])}`);
  });
}

/** Both migrations, each as a program of its own, as a deployment runs them. */
export async function migrateBoth(processes: Processes, plan: StackPlan): Promise<void> {
  const identity = nodeProgram(plan, 'identity migrations', 'identity/src/migrate.ts', {
    MIGRATOR_POSTGRES_URL: databaseUrl(plan, 'identity_migrator'),
    KEY_ENCRYPTION_KEY: plan.secrets.keyEncryption,
  });
  const catalog = nodeProgram(plan, 'design-catalog migrations', 'design-catalog/src/migrate.ts', {
    MIGRATOR_POSTGRES_URL: databaseUrl(plan, 'catalog_migrator'),
  });
  await Promise.all([runToEnd(processes, identity), runToEnd(processes, catalog)]);
}
