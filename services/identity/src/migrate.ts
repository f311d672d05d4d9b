// A job of its own: brings the identity schema up to date and makes the first signing keys. Exit code 0, or 1
// with one line that says why.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ConfigurationError, readSettings } from '@course-exchange/runtime/env';
import { createLogger, describeError, type Logger } from '@course-exchange/runtime/logger';
import { migrate } from '@course-exchange/runtime/migrations';
import { type Database, openDatabase } from '@course-exchange/runtime/postgres';
import { migrationSettings } from './config.ts';
import { idTokenAlgorithm, type SigningAlgorithm } from './domain/signing-algorithm.ts';
import { type KeyEncryptionKey, openWithAny } from './signing/key-encryption.ts';
import { generateSigningKey } from './signing/key-generation.ts';
import { insertFirstKey, listPublishedKeys } from './store/postgres/signing-keys.ts';

/** KEY_ENCRYPTION_KEY is not the one that sealed the keys in Postgres. */
class WrongKey extends Error {}

const logger = createLogger('identity-migrate', 'info');
process.exitCode = await run(logger);

async function run(log: Logger): Promise<number> {
  try {
    const config = readSettings(migrationSettings);
    const postgresUrl = config.MIGRATOR_POSTGRES_URL.reveal();
    const applied = await migrate(postgresUrl, 'identity', join(import.meta.dirname, '../migrations'));
    const keys = await makeFirstKeys(postgresUrl, config.ACCESS_TOKEN_ALGORITHM, [
      config.KEY_ENCRYPTION_KEY,
      ...(config.KEY_ENCRYPTION_KEY_PREVIOUS ? [config.KEY_ENCRYPTION_KEY_PREVIOUS] : []),
    ]);
    log.info('migrated', { migrations: applied.length, keys });
    return 0;
  } catch (error) {
    if (error instanceof ConfigurationError) process.stderr.write(`${error.message}\n`);
    else if (error instanceof WrongKey) log.error('KEY_ENCRYPTION_KEY does not open the signing keys');
    else log.error('migration failed', describeError(error));
    return 1;
  }
}

/** Number of keys made: none where the algorithm has one already. The first keys sign at once (R17). */
async function makeFirstKeys(
  postgresUrl: string,
  accessTokenAlgorithm: SigningAlgorithm,
  encryptionKeys: readonly [KeyEncryptionKey, ...KeyEncryptionKey[]],
): Promise<number> {
  const database = openDatabase({
    url: postgresUrl,
    applicationName: 'identity-migrate',
    poolSize: 1,
    statementTimeoutMs: 5_000,
    schema: 'identity',
    logger,
  });
  try {
    await checkKeys(database, encryptionKeys);
    let made = 0;
    for (const algorithm of new Set([idTokenAlgorithm, accessTokenAlgorithm])) {
      if (await insertFirstKey(database, await generateSigningKey(algorithm, encryptionKeys[0], randomBytes)))
        made += 1;
    }
    return made;
  } finally {
    await database.close();
  }
}

/** A wrong key is found here, before any pod changes. */
async function checkKeys(database: Database, keys: readonly KeyEncryptionKey[]): Promise<void> {
  for (const { kid, sealedPrivateKey, state } of await listPublishedKeys(database)) {
    if (state !== 'retired' && !openWithAny(keys, kid, sealedPrivateKey)) throw new WrongKey();
  }
}
