// Whether the roles in Postgres are those of deploy/postgres/roles.sql, and none of them can do more.
import { type Finding, failure } from '../process/checks.ts';
import { rolesScript } from './check-errors.ts';
import type { Queries } from './pool.ts';

/** An account of the installation in Postgres. */
export interface Account {
  /** Begins its settings: `POSTGRES` for POSTGRES_URL. */
  readonly prefix: string;
  /** The role that its login must be, or have the rights of. */
  readonly role: string;
  /** It only reads: a standby will do. */
  readonly readOnly?: boolean;
  /** It works as the owner, which no other may. */
  readonly migrates?: boolean;
}

export interface Installation {
  /** Owns schemas and tables, and cannot log in; the migrator works as it. */
  readonly owner: string;
  /** The schema that the migrator brings up to date. */
  readonly schema: string;
  /** The migrator's first; the others own nothing and create nothing. */
  readonly accounts: readonly Account[];
}

const database = {
  name: 'database and schema',
  text: `select current_database() as name, session_user as login, current_user as "worksAs",
      coalesce((select has_database_privilege(oid, current_database(), 'create') from pg_roles where rolname = $1),
        false) as "ownerCreates",
      (select pg_get_userbyid(nspowner) from pg_namespace where nspname = $2) as "schemaOwner"`,
};

interface DatabaseState {
  readonly name: string;
  readonly login: string;
  readonly worksAs: string;
  readonly ownerCreates: boolean;
  readonly schemaOwner: string | null;
}

/** Everything that differs; each finding says what puts it right. */
export async function checkRoles(migrator: Queries, installation: Installation): Promise<readonly Finding[]> {
  const { owner, schema, accounts } = installation;
  const names = [owner, ...accounts.map(({ role }) => role)];
  const found = await readRoles(migrator, names, owner);
  const [state] = await migrator.query<DatabaseState>(database, [owner, schema]);
  if (!state) return [];
  const script = rolesScript(state.name);
  const missing = names.filter((name) => !found.some((role) => role.name === name));
  if (missing.length > 0) {
    const [are, them] = missing.length === 1 ? ['role is', 'it'] : ['roles are', 'them'];
    return [failure(`The ${are} missing: ${missing.join(', ')}; to make ${them}, ${script}.`)];
  }
  const mistakes = [
    ...ownerProblems(state, installation, found, script),
    ...accounts
      .filter(({ migrates }) => !migrates)
      .flatMap(({ role, readOnly = false }) =>
        found
          .filter(({ name }) => name === role)
          .flatMap((one) => serviceRoleProblems(one, readOnly, owner, script)),
      ),
  ];
  return mistakes.map(failure);
}

function ownerProblems(
  { login, worksAs, name, ownerCreates, schemaOwner }: DatabaseState,
  { owner, schema, accounts }: Installation,
  found: readonly Role[],
  script: string,
): readonly string[] {
  const mistakes: string[] = [];
  if (worksAs !== owner)
    mistakes.push(
      `MIGRATOR_POSTGRES_URL logs in as ${login}, which works as ${worksAs} and not as ${owner}: log in as ${accounts[0]?.role}, and ${script}.`,
    );
  if (!ownerCreates) mistakes.push(`${owner} may not create a schema in the database ${name}: ${script}.`);
  if (found.some((role) => role.name === owner && role.login))
    mistakes.push(`${owner} can log in: alter the role with NOLOGIN.`);
  if (schemaOwner !== null && schemaOwner !== owner)
    mistakes.push(
      `The schema ${schema} belongs to ${schemaOwner}: give it and what is in it to ${owner} (ALTER SCHEMA … OWNER TO).`,
    );
  return mistakes;
}

function serviceRoleProblems(
  role: Role,
  readOnly: boolean,
  owner: string,
  script: string,
): readonly string[] {
  const { name, powers, isOwner, owned, createsIn, createsSchemas } = role;
  const mistakes: string[] = [];
  if (powers.length > 0) mistakes.push(withoutPowers(role));
  // A superuser is a member of every role, and creates everywhere: the sentence above is the one to follow.
  if (powers.includes('superuser')) return mistakes;
  if (isOwner) mistakes.push(`${name} is a member of ${owner}: revoke ${owner} from ${name}.`);
  if (owned > 0)
    mistakes.push(
      `${name} owns ${owned} tables or indexes: give them to ${owner} (REASSIGN OWNED BY ${name} TO ${owner}).`,
    );
  if (createsSchemas && !isOwner)
    mistakes.push(`${name} may create schemas: revoke CREATE on the database from ${name}.`);
  if (createsIn.length > 0 && !isOwner)
    mistakes.push(
      createsIn.includes('public')
        ? `${name} may create in the schema ${createsIn.join(' and ')}: ${script}, which takes it from public.`
        : `${name} may create in the schema ${createsIn.join(' and ')}: revoke CREATE there from ${name}.`,
    );
  if (readOnly && !isReadOnly(role))
    mistakes.push(`${name} is not read-only by its own setting (default_transaction_read_only): ${script}.`);
  return mistakes;
}

export interface Role {
  readonly name: string;
  readonly login: boolean;
  /** Attributes beyond those of a service, by the words of ALTER ROLE. */
  readonly powers: readonly string[];
  readonly settings: readonly string[];
  /** It is a member of the owner, or the owner itself. */
  readonly isOwner: boolean;
  /** Tables and indexes. */
  readonly owned: number;
  readonly createsIn: readonly string[];
  readonly createsSchemas: boolean;
}

const statement = {
  name: 'roles',
  text: `select r.rolname as name, r.rolcanlogin as login, coalesce(r.rolconfig, '{}') as settings,
      array_remove(array[case when rolsuper then 'superuser' end, case when rolcreaterole then 'createrole' end,
        case when rolcreatedb then 'createdb' end, case when rolreplication then 'replication' end,
        case when rolbypassrls then 'bypassrls' end], null) as powers,
      coalesce((select pg_has_role(r.oid, o.oid, 'member') from pg_roles o where o.rolname = $2), false) as "isOwner",
      (select count(*)::integer from pg_class c where c.relowner = r.oid) as owned,
      has_database_privilege(r.oid, current_database(), 'create') as "createsSchemas",
      array(select n.nspname::text from pg_namespace n
        where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
          and has_schema_privilege(r.oid, n.oid, 'create') order by 1) as "createsIn"
    from pg_roles r where r.rolname = any($1)`,
};

/** Those of `names` that are there. */
export function readRoles(database: Queries, names: readonly string[], owner: string): Promise<Role[]> {
  return database.query<Role>(statement, [names, owner]);
}

/** A role that has powers, and what takes them from it. */
export function withoutPowers({ name, powers }: Role): string {
  return `${name} is ${powers.join(' and ')}: alter the role with ${powers.map((power) => `NO${power.toUpperCase()}`).join(' ')}.`;
}

export function isReadOnly({ settings }: Role): boolean {
  return settings.includes('default_transaction_read_only=on');
}
