// Identity's migration job, which also creates the first signing keys. --check and --report only check; with --report
// the exit code is 0.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { runMigrationJob } from '@course-exchange/runtime/postgres/migrate';
import { openDatabase } from '@course-exchange/runtime/postgres/pool';
import { postgresAccess } from '@course-exchange/runtime/postgres/settings';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { insertFirstKey } from './keys/key-table.ts';
import { generateSigningKey } from './keys/private-key.ts';
import { type MigrationConfig, preflight, readMigrationConfig } from './preflight.ts';
import { algorithmsInUse } from './token/jwt.ts';

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
  check: (config, schemaVersion) => preflight(config, schemaVersion, logger),
  after: async (config) => ({ keys: await makeFirstKeys(config) }),
});

/** Returns how many were created. The first keys sign at once (R17.3). */
async function makeFirstKeys(config: MigrationConfig): Promise<number> {
  const deps = { keyEncryptionKey: config.KEY_ENCRYPTION_KEY, randomBytes };
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
    for (const algorithm of algorithmsInUse(config.ACCESS_TOKEN_ALGORITHM)) {
      const key = await generateSigningKey(deps, algorithm);
      if (await insertFirstKey(database, key)) made += 1;
    }
    return made;
  } finally {
    await database.close();
  }
}
