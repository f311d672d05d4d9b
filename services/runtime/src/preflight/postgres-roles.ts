// Whether the roles in Postgres are those of deploy/postgres/roles.sql, and none of them can do more.
import { type Finding, failure } from './checks.ts';
import { rolesScript } from './postgres-faults.ts';
import type { Login } from './postgres-login.ts';
import { isReadOnly, type Role, readRoles, withoutPowers } from './postgres-role.ts';

export interface WantedRoles {
  /** Owns schemas and tables, and cannot log in; the migrator works as it. */
  readonly owner: string;
  readonly migrator: string;
  /** They own nothing and create nothing. */
  readonly services: readonly { readonly role: string; readonly readOnly?: boolean }[];
  /** The schema that the migrator brings up to date. */
  readonly schema: string;
}

const database = {
  name: 'database and schema',
  text: `select current_database() as name, session_user as login, current_user as "worksAs",
      coalesce((select has_database_privilege(oid, current_database(), 'create') from pg_roles where rolname = $1),
        false) as "ownerCreates",
      (select pg_get_userbyid(nspowner) from pg_namespace where nspname = $2) as "schemaOwner"`,
};

interface Place {
  readonly name: string;
  readonly login: string;
  readonly worksAs: string;
  readonly ownerCreates: boolean;
  readonly schemaOwner: string | null;
}

/** Everything that differs; each finding says what puts it right. */
export async function checkRoles(migrator: Login, wanted: WantedRoles): Promise<readonly Finding[]> {
  const { owner, schema, services } = wanted;
  const names = [owner, wanted.migrator, ...services.map(({ role }) => role)];
  const found = await readRoles(migrator, names, owner);
  const [place] = await migrator.query<Place>(database, [owner, schema]);
  if (!place) return [];
  const script = rolesScript(place.name);
  const missing = names.filter((name) => !found.some((role) => role.name === name));
  if (missing.length > 0) {
    const [are, them] = missing.length === 1 ? ['role is', 'it'] : ['roles are', 'them'];
    return [failure(`The ${are} missing: ${missing.join(', ')}; to make ${them}, ${script}.`)];
  }
  const mistakes = [
    ...mistakesOfOwner(place, wanted, found, script),
    ...services.flatMap((service) =>
      found
        .filter(({ name }) => name === service.role)
        .flatMap((role) => mistakesOfService(role, service.readOnly === true, owner, script)),
    ),
  ];
  return mistakes.map(failure);
}

function mistakesOfOwner(
  { login, worksAs, name, ownerCreates, schemaOwner }: Place,
  { owner, migrator, schema }: WantedRoles,
  found: readonly Role[],
  script: string,
): readonly string[] {
  const mistakes: string[] = [];
  if (worksAs !== owner)
    mistakes.push(
      `MIGRATOR_POSTGRES_URL logs in as ${login}, which works as ${worksAs} and not as ${owner}: log in as ${migrator}, and ${script}.`,
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

function mistakesOfService(role: Role, readOnly: boolean, owner: string, script: string): readonly string[] {
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
