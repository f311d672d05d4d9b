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

export async function migrateBoth(processes: Processes, plan: StackPlan): Promise<void> {
  const migrations = [
    ['identity', 'identity_migrator', { KEY_ENCRYPTION_KEY: plan.secrets.keyEncryption }],
    ['design-catalog', 'catalog_migrator', {}],
  ] as const;
  const programs = migrations.map(([service, role, settings]) =>
    nodeProgram(plan, `${service} migrations`, `${service}/src/migrate.ts`, {
      MIGRATOR_POSTGRES_URL: databaseUrl(plan, role),
      ...settings,
    }),
  );
  await Promise.all(programs.map((program) => runToEnd(processes, program)));
}
