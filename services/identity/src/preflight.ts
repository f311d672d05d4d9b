// The settings and checks of identity's migration job. A check whose setting is absent is skipped.
import { checkPostgres } from '@course-exchange/runtime/postgres/check';
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { appliedVersion } from '@course-exchange/runtime/postgres/schema-version';
import { optionalPostgresSettings, postgresSettings } from '@course-exchange/runtime/postgres/settings';
import { type Finding, findings, withChecks } from '@course-exchange/runtime/process/checks';
import { type Logger, pseudonym } from '@course-exchange/runtime/process/logger';
import {
  type Rule,
  readSettings,
  type SettingSource,
  type SettingValues,
} from '@course-exchange/runtime/process/settings';
import { issuerRule, replicaRule, settings } from './config.ts';
import { listKeys } from './keys/key-table.ts';
import { decryptPrivateKey } from './keys/private-key.ts';
import { checkRedis } from './redis/durability.ts';
import { redisRules, redisSettings } from './redis/settings.ts';
import { listSharedEmails } from './users/refold.ts';

export const migrationSettings = {
  KEY_ENCRYPTION_KEY: settings.KEY_ENCRYPTION_KEY,
  KEY_ENCRYPTION_KEY_PREVIOUS: settings.KEY_ENCRYPTION_KEY_PREVIOUS,
  USER_HASH_KEY: settings.USER_HASH_KEY.optional(),
  ACCESS_TOKEN_ALGORITHM: settings.ACCESS_TOKEN_ALGORITHM,
  ...postgresSettings('MIGRATOR_POSTGRES', 'Database, as role identity_migrator'),
  ...optionalPostgresSettings('POSTGRES', settings.POSTGRES_URL.description ?? ''),
  ...optionalPostgresSettings('OPERATOR_POSTGRES', settings.OPERATOR_POSTGRES_URL.description ?? ''),
  ISSUER: settings.ISSUER.optional(),
  ENVIRONMENT: settings.ENVIRONMENT.optional(),
  ...redisSettings,
  REDIS_URL: redisSettings.REDIS_URL.optional(),
};

export type MigrationConfig = SettingValues<typeof migrationSettings>;

export function readMigrationConfig(source?: SettingSource): MigrationConfig {
  const rules = [...redisRules, replicaRule].map((rule) => whereSet('REDIS_URL', rule));
  return readSettings(migrationSettings, source, [...rules, whereSet('ISSUER', issuerRule)]);
}

function whereSet(name: 'REDIS_URL' | 'ISSUER', { of, mistakes }: Rule): Rule {
  const rule = (values: Readonly<Record<string, unknown>>) =>
    values[name] === undefined ? [] : mistakes(values);
  return { of: [...new Set([...of, name])], mistakes: rule };
}

const installation = {
  owner: 'course_exchange_owner',
  schema: 'identity',
  accounts: [
    { prefix: 'MIGRATOR_POSTGRES', role: 'identity_migrator', migrates: true },
    { prefix: 'POSTGRES', role: 'identity_rw' },
    { prefix: 'OPERATOR_POSTGRES', role: 'identity_operator' },
  ],
};

/** True when nothing failed. `schemaVersion`: the newest migration of this image. */
export function preflight(config: MigrationConfig, schemaVersion: number, logger: Logger): Promise<boolean> {
  return withChecks(logger, async (run) => {
    await checkPostgres({ installation, config, schemaVersion }, run, async (migrator) => {
      await run('signing keys', () => checkSigningKeys(migrator, config));
      await run('e-mail addresses', () => checkEmails(migrator, config));
    });
    await run('redis', async () => {
      const { REDIS_URL, ENVIRONMENT } = config;
      if (REDIS_URL === undefined) return [{ kind: 'skipped', message: 'REDIS_URL is not set here.' }];
      return checkRedis({ ...config, REDIS_URL }, ENVIRONMENT === 'production', logger);
    });
  });
}

async function checkSigningKeys(
  database: Queries,
  { KEY_ENCRYPTION_KEY: current, KEY_ENCRYPTION_KEY_PREVIOUS: previous }: MigrationConfig,
): Promise<readonly Finding[]> {
  if ((await appliedVersion(database, 'identity')) === 0) return [];
  const keys = (await listKeys(database)).filter(({ state }) => state === 'staged' || state === 'active');
  const encryptionKeys = previous === undefined ? [current] : [current, previous];
  const closed = keys.filter((key) => decryptPrivateKey(encryptionKeys, key) === undefined).length;
  return findings('failure', [
    {
      bad: closed > 0,
      message: `KEY_ENCRYPTION_KEY does not decrypt the signing keys (${closed} of ${keys.length}): set the key that encrypted them, here or as KEY_ENCRYPTION_KEY_PREVIOUS.`,
    },
  ]);
}

const mostNamed = 20;

/** Users of one address in different spellings: each logs in by its stored spelling alone (R30.14). */
async function checkEmails(
  database: Queries,
  { USER_HASH_KEY: key }: MigrationConfig,
): Promise<readonly Finding[]> {
  if ((await appliedVersion(database, 'identity')) === 0) return [];
  const shared = await listSharedEmails(database);
  const named = key && shared.map((subs) => subs.map((sub) => pseudonym(key, sub)).join(' and '));
  const more = shared.length > mostNamed ? ', …' : '';
  const names = named ? ` (${named.slice(0, mostNamed).join(', ')}${more})` : '';
  return findings('warning', [
    {
      bad: shared.length > 0,
      message: `Addresses that several users have, in spellings that are one address from now on: ${shared.length}${names}. Each of these users logs in by the stored spelling alone: give each an address of its own.`,
    },
  ]);
}
