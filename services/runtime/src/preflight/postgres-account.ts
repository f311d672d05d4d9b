// Whether the login that an account came to is the one that it must be: its role, what else it can do, the server
// behind it, and the way there.
import type { Queries } from '../postgres.ts';
import { type Finding, failure } from './checks.ts';
import { type PostgresTarget, poolerSentence, whereIs } from './postgres-faults.ts';
import { isReadOnly, type Role, readRoles, withoutPowers } from './postgres-role.ts';

/** What an account must be. */
export interface AccountRules {
  /** The role that the login must be, or have the rights of. */
  readonly role: string;
  /** Schema that unqualified names are looked up in. */
  readonly schema: string;
  /** It only reads: a standby will do. */
  readonly readOnly?: boolean;
  /** It works as the owner, which no other may. */
  readonly migrates?: boolean;
}

/** What holds for all accounts. */
export interface LoginRules {
  /** The role that owns schemas and tables. */
  readonly owner: string;
  /** Only loopback and Unix sockets may be without TLS. */
  readonly mustEncrypt: boolean;
}

interface Session {
  readonly user: string;
  readonly standby: boolean;
  readonly readOnly: boolean;
  readonly searchPath: string;
  readonly encrypted: boolean;
  readonly known: boolean;
  readonly member: boolean;
}

const session = {
  name: 'session',
  text: `select session_user as "user", pg_is_in_recovery() as standby,
    current_setting('transaction_read_only')::boolean as "readOnly", current_setting('search_path') as "searchPath",
    coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as encrypted,
    exists (select from pg_roles where rolname = $1) as known,
    coalesce((select pg_has_role(session_user, oid, 'usage') from pg_roles where rolname = $1), false) as member`,
};

export async function judgeAccount(
  database: Queries,
  target: PostgresTarget,
  account: AccountRules,
  rules: LoginRules,
): Promise<readonly Finding[]> {
  const [found] = await database.query<Session>(session, [account.role]);
  if (!found) return [];
  const mistakes = mistakesOfSession(found, target, account, rules);
  // Roles that are not there at all are the finding of the check of roles.
  if (!found.known) return mistakes.map(failure);
  const roles = await readRoles(database, [found.user], rules.owner);
  return [...mistakes, ...roles.flatMap((role) => mistakesOfLogin(role, found, target, account))].map(
    failure,
  );
}

function mistakesOfSession(
  { user, standby, readOnly, searchPath, encrypted, member }: Session,
  target: PostgresTarget,
  account: AccountRules,
  { mustEncrypt }: LoginRules,
): readonly string[] {
  const { setting, host } = target;
  const where = whereIs(target);
  const mistakes: string[] = [];
  if (mustEncrypt && !encrypted && !isLocal(host))
    mistakes.push(
      `${setting} reaches ${where} without TLS, which production asks for: add sslmode=verify-full and sslrootcert to it.`,
    );
  if (searchPath !== account.schema) mistakes.push(`${poolerSentence(target, where)}.`);
  if (standby && !account.readOnly) mistakes.push(`${where} is a standby: name the primary in ${setting}.`);
  else if (readOnly && member && !account.readOnly)
    mistakes.push(
      `${where} lets ${user} only read: reset default_transaction_read_only of the role, the database or the server.`,
    );
  return mistakes;
}

function isLocal(host: string): boolean {
  return /^(\/.*|localhost|127(\.\d+){3}|::1)$/.test(host);
}

/** Of a service's own role the check of roles says what it can do; here another login in the role is judged. */
function mistakesOfLogin(
  role: Role,
  { member }: Session,
  { setting }: PostgresTarget,
  account: AccountRules,
): readonly string[] {
  const { name, powers } = role;
  if (name === account.role) return account.migrates && powers.length > 0 ? [withoutPowers(role)] : [];
  if (!member)
    return [
      `${setting} logs in as ${name}, which is not ${account.role} and has not its rights: name ${account.role} there, or a login that is in it and inherits.`,
    ];
  const excess = excessOf(role, account.migrates === true);
  if (excess.length > 0)
    return [
      `${setting} logs in as ${name}, which ${excess.join(', ')}: name ${account.role} there, or a login in it that can do no more.`,
    ];
  return account.readOnly && !isReadOnly(role)
    ? [
        `${name} is not read-only by its own setting: alter the role with SET default_transaction_read_only = on.`,
      ]
    : [];
}

function excessOf(role: Role, migrates: boolean): readonly string[] {
  const { powers, isOwner, owned, createsIn, createsSchemas } = role;
  const excess = powers.length > 0 ? [`is ${powers.join(' and ')}`] : [];
  // A superuser may do everything: the rest says nothing more.
  if (migrates || powers.includes('superuser')) return excess;
  if (isOwner) return [...excess, 'may work as the owner of the tables'];
  if (owned > 0) excess.push(`owns ${owned} tables or indexes`);
  if (createsSchemas) excess.push('may create schemas');
  if (createsIn.length > 0) excess.push(`may create in the schema ${createsIn.join(' and ')}`);
  return excess;
}
