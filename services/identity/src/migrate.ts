// A job of its own: looks whether this installation can run, brings the identity schema up to date and makes the first
// signing keys; with --check it only looks. Exit code 0, or 1 with a line for each reason.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createLogger } from '@course-exchange/runtime/logger';
import { runMigrationJob } from '@course-exchange/runtime/migration-job';
import { openDatabase } from '@course-exchange/runtime/postgres';
import { postgresAccess } from '@course-exchange/runtime/postgres-settings';
import { idTokenAlgorithm } from './domain/signing-algorithm.ts';
import { type MigrationConfig, preflightSubjects, readMigrationConfig } from './migration-config.ts';
import { preflight } from './preflight/preflight.ts';
import { generateSigningKey } from './signing/key-generation.ts';
import { insertFirstKey } from './store/postgres/signing-keys.ts';

const logger = createLogger('identity-migrate', 'info');
const migrator = postgresAccess('MIGRATOR_POSTGRES');
const directory = join(import.meta.dirname, '../migrations');
process.exitCode = await runMigrationJob({
  words: process.argv.slice(2),
  schema: 'identity',
  directory,
  logger,
  readConfig: () => readMigrationConfig(),
  migrator: migrator.read,
  check: (config, schemaVersion) => preflight(preflightSubjects(config, schemaVersion), logger),
  after: async (config) => ({ keys: await makeFirstKeys(config) }),
});

/** Number of keys made: none where the algorithm has one already. The first keys sign at once (R17). */
async function makeFirstKeys(config: MigrationConfig): Promise<number> {
  const database = openDatabase({
    url: migrator,
    applicationName: 'identity-migrate',
    poolSize: 1,
    statementTimeoutMs: 5_000,
    schema: 'identity',
    logger,
  });
  try {
    let made = 0;
    for (const algorithm of new Set([idTokenAlgorithm, config.ACCESS_TOKEN_ALGORITHM])) {
      const key = await generateSigningKey(algorithm, config.KEY_ENCRYPTION_KEY, randomBytes);
      if (await insertFirstKey(database, key)) made += 1;
    }
    return made;
  } finally {
    await database.close();
  }
}
