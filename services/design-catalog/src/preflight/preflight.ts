// What the job looks at before it changes anything: whether the catalog can run with these settings. A login whose
// setting is absent is left out, and that is said.
import type { Logger } from '@course-exchange/runtime/logger';
import { type CheckGroup, leftOut, runChecks } from '@course-exchange/runtime/preflight/checks';
import {
  type LoginAttempt,
  type Logins,
  openLogins,
} from '@course-exchange/runtime/preflight/postgres-login';
import { checkRoles, type WantedRoles } from '@course-exchange/runtime/preflight/postgres-roles';
import { checkVersion } from '@course-exchange/runtime/preflight/schema-version';

export interface PreflightSubjects {
  /** The migrator's first, and under the setting's name each. */
  readonly logins: readonly LoginAttempt[];
  /** Where connections leave the machine, they must be encrypted. */
  readonly production: boolean;
  /** Settings of logins that are absent. */
  readonly absent: readonly string[];
  /** Version of the newest migration that this code knows. */
  readonly schemaVersion: number;
}

const roles: WantedRoles = {
  owner: 'course_exchange_owner',
  migrator: 'catalog_migrator',
  services: [{ role: 'catalog_ro', readOnly: true }, { role: 'catalog_feed' }],
  schema: 'catalog',
};

/** Changes nothing. True when nothing failed; every finding has been logged by then. */
export async function preflight(subjects: PreflightSubjects, logger: Logger): Promise<boolean> {
  const logins = await openLogins(subjects.logins, {
    owner: roles.owner,
    mustEncrypt: subjects.production,
  });
  const absences = subjects.absent.map((setting) => leftOut(`${setting} is not set here.`));
  try {
    return await runChecks(
      [
        { name: 'postgres', run: async () => logins.findings },
        ...absences.map((finding) => ({ name: 'postgres', run: async () => [finding] })),
        ...groupsOnMigrator(logins, subjects.schemaVersion),
      ],
      logger,
    );
  } finally {
    await logins.close();
  }
}

function groupsOnMigrator({ open }: Logins, schemaVersion: number): readonly CheckGroup[] {
  const migrator = open.get('MIGRATOR_POSTGRES_URL');
  if (!migrator) return [];
  return [
    { name: 'roles', run: () => checkRoles(migrator, roles) },
    { name: 'schema', run: () => checkVersion(migrator, 'catalog', schemaVersion) },
  ];
}
