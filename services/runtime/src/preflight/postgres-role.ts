// What a role can do in a database.
import type { Queries } from '../postgres.ts';

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
