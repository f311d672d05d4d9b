// What the job looks at before it changes anything: whether this installation can run with these settings. Each group
// is left out, and says so, where its setting is absent.
import type { Logger } from '@course-exchange/runtime/logger';
import { type CheckGroup, leftOut, runChecks } from '@course-exchange/runtime/preflight/checks';
import {
  type LoginAttempt,
  type Logins,
  openLogins,
} from '@course-exchange/runtime/preflight/postgres-login';
import { checkRoles, type WantedRoles } from '@course-exchange/runtime/preflight/postgres-roles';
import { checkVersion } from '@course-exchange/runtime/preflight/schema-version';
import type { KeyEncryptionKey } from '../signing/key-encryption.ts';
import { checkIssuer, type IssuerSettings } from './issuer.ts';
import { checkRedis, type RedisSettings } from './redis.ts';
import { checkSigningKeys } from './signing-keys.ts';

export interface PreflightSubjects {
  readonly issuer: IssuerSettings;
  /** The migrator's first, and under the setting's name each. */
  readonly logins: readonly LoginAttempt[];
  /** Where connections leave the machine, they must be encrypted. */
  readonly production: boolean;
  /** Settings of logins that are absent. */
  readonly absent: readonly string[];
  readonly encryptionKeys: readonly KeyEncryptionKey[];
  readonly redis: RedisSettings | undefined;
  /** Version of the newest migration that this code knows. */
  readonly schemaVersion: number;
}

const roles: WantedRoles = {
  owner: 'course_exchange_owner',
  migrator: 'identity_migrator',
  services: [{ role: 'identity_rw' }, { role: 'identity_operator' }],
  schema: 'identity',
};

/** Changes nothing. True when nothing failed; every finding has been logged by then. */
export async function preflight(subjects: PreflightSubjects, logger: Logger): Promise<boolean> {
  const logins = await openLogins(subjects.logins, {
    owner: roles.owner,
    mustEncrypt: subjects.production,
  });
  try {
    return await runChecks(
      [
        { name: 'issuer', run: async () => checkIssuer(subjects.issuer) },
        { name: 'postgres', run: async () => logins.findings },
        ...subjects.absent.map(absence),
        ...groupsOnMigrator(logins, subjects),
        { name: 'redis', run: () => checkRedis(subjects.redis) },
      ],
      logger,
    );
  } finally {
    await logins.close();
  }
}

function absence(setting: string): CheckGroup {
  return { name: 'postgres', run: async () => [leftOut(`${setting} is not set here.`)] };
}

function groupsOnMigrator(
  { open }: Logins,
  { encryptionKeys, schemaVersion }: PreflightSubjects,
): readonly CheckGroup[] {
  const migrator = open.get('MIGRATOR_POSTGRES_URL');
  if (!migrator) return [];
  return [
    { name: 'roles', run: () => checkRoles(migrator, roles) },
    { name: 'schema', run: () => checkVersion(migrator, 'identity', schemaVersion) },
    { name: 'signing keys', run: () => checkSigningKeys(migrator, encryptionKeys) },
  ];
}
