// What a migration job checks of Postgres before it changes anything: each account gets in and has its rights, the
// migrator can migrate, and the schema is not newer than the image.
import { type Finding, failure, findings, type RunCheck, skipped, warning } from '../process/checks.ts';
import { type Installation, type Login, logIn, rolesScript } from './check-login.ts';
import type { Queries } from './pool.ts';
import { appliedVersion } from './schema-version.ts';

export interface PostgresChecks {
  readonly installation: Installation;
  /** The job's settings: an account whose URL is absent is skipped, and that is said. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Version of the newest migration that this image knows. */
  readonly schemaVersion: number;
}

/** `more`: checks on the migrator's connection, where there is one. */
export async function checkPostgres(
  { installation, config, schemaVersion }: PostgresChecks,
  run: RunCheck,
  more: (migrator: Queries) => Promise<void> = async () => {},
): Promise<void> {
  const logins: Login[] = [];
  try {
    await run('postgres', async () => {
      const outcomes: (Login | Finding)[] = [];
      for (const account of installation.accounts) {
        const setting = `${account.prefix}_URL`;
        const isSet = config[setting] !== undefined;
        outcomes.push(isSet ? await logIn(account, installation) : skipped(`${setting} is not set here.`));
      }
      logins.push(...outcomes.filter((outcome) => 'query' in outcome));
      const production = config.ENVIRONMENT === 'production';
      return outcomes.flatMap((one) => ('query' in one ? ofLogin(one, installation, production) : one));
    });
    const migrator = logins.find(({ account }) => account.migrates);
    if (!migrator) return;
    await run('roles', async () => ofMigrator(migrator, installation));
    await run('schema', async () => {
      const { schema } = installation;
      const version = await appliedVersion(migrator, schema);
      const newer = `The schema ${schema} has version ${version} and this image knows ${schemaVersion}: it stays as it is; go on only if you mean to run the older version.`;
      const lacking = version === 0 ? [] : logins.flatMap((login) => ofGrants(login, schema));
      return [...findings(warning, { [newer]: version > schemaVersion }), ...lacking];
    });
    await more(migrator);
  } finally {
    await Promise.all(logins.map(({ close }) => close()));
  }
}

function ofLogin(login: Login, { schema }: Installation, production: boolean): readonly Finding[] {
  const { account, setting, server, user, member, powers } = login;
  const onlyReads = login.readOnly && member && !account.readOnly;
  return findings(failure, {
    [`${setting} reaches ${server} without verified TLS, which production requires: add sslmode=verify-full and sslrootcert to it.`]:
      production && !login.secure,
    [`${server} is a connection pooler: name the server itself in ${setting}.`]: login.searchPath !== schema,
    [`${server} lets ${user} only read: name the primary in ${setting}, or reset default_transaction_read_only.`]:
      onlyReads,
    [`${setting} logs in as ${user}, which lacks the rights of ${account.role}: name ${account.role} there, or a login in it that inherits.`]:
      !member,
    [`${setting} logs in as ${user}, which is or can become ${powers.join(', ')}: take that from it.`]:
      powers.length > 0,
  });
}

function ofMigrator(
  { setting, user, database, missing, migrates }: Login,
  { owner, schema }: Installation,
): readonly Finding[] {
  const script = rolesScript(database);
  return findings(failure, {
    [`Roles are missing (${missing.join(', ')}): ${script}.`]: missing.length > 0,
    [`${setting} logs in as ${user}, which cannot migrate: it must work as ${owner}, which may create in ${database} and owns the schema ${schema}; ${script}.`]:
      missing.length === 0 && !migrates,
  });
}

/** What the migrations granted was lost, as by a restore without privileges, or the account has another database. */
function ofGrants({ account, setting, user, member, hasTables }: Login, schema: string): readonly Finding[] {
  const may = account.readOnly ? 'read' : 'write';
  return findings(failure, {
    [`${setting} logs in as ${user}, which may ${may} no table of the schema ${schema}: name the database of MIGRATOR_POSTGRES_URL, or grant ${account.role} what the migrations grant.`]:
      member && !hasTables,
  });
}
