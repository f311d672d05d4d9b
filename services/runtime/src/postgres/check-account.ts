// Whether the login of an account is the one that it must be: its role, what else it can do, the server behind it, and
// the encryption of its connection.
import { type Finding, failure } from '../process/checks.ts';
import { isLoopback } from '../process/ip-address.ts';
import { type PostgresTarget, poolerText, serverName } from './check-errors.ts';
import { type Account, isReadOnly, type Role, readRoles, withoutPowers } from './check-roles.ts';
import type { Queries } from './pool.ts';

/** What holds for the logins of all accounts. */
interface LoginRules {
  readonly owner: string;
  /** Schema that unqualified names are looked up in. */
  readonly schema: string;
  /** Only loopback and Unix sockets may be without TLS. */
  readonly mustEncrypt: boolean;
}

interface Session {
  readonly user: string;
  readonly standby: boolean;
  readonly readOnly: boolean;
  readonly searchPath: string;
  readonly known: boolean;
  readonly member: boolean;
}

const session = {
  name: 'session',
  text: `select session_user as "user", pg_is_in_recovery() as standby,
    current_setting('transaction_read_only')::boolean as "readOnly", current_setting('search_path') as "searchPath",
    exists (select from pg_roles where rolname = $1) as known,
    coalesce((select pg_has_role(session_user, oid, 'usage') from pg_roles where rolname = $1), false) as member`,
};

const encryption = {
  name: 'encryption',
  text: 'select ssl as encrypted from pg_stat_ssl where pid = pg_backend_pid()',
};

export async function checkAccount(
  database: Queries,
  target: PostgresTarget,
  account: Account,
  rules: LoginRules,
): Promise<readonly Finding[]> {
  const [found] = await database.query<Session>(session, [account.role]);
  if (!found) return [];
  const mistakes = sessionProblems(found, target, account, rules);
  const local = target.host.startsWith('/') || isLoopback(target.host);
  if (rules.mustEncrypt && !local && !(await isEncrypted(database)))
    mistakes.unshift(
      `${target.setting} reaches ${serverName(target)} without TLS, which production asks for: add sslmode=verify-full and sslrootcert to it.`,
    );
  // Roles that are not there at all are the finding of the check of roles.
  if (!found.known) return mistakes.map(failure);
  const roles = await readRoles(database, [found.user], rules.owner);
  return [...mistakes, ...roles.flatMap((role) => loginProblems(role, found, target, account))].map(failure);
}

/**
 * Asked as the login itself: Postgres shows a session to its own login, and a migrator works as the owner, who would
 * find nothing. RESET ROLE would lead to the owner again.
 */
async function isEncrypted(database: Queries): Promise<boolean> {
  await database.query({ name: 'begin', text: 'begin' }, []);
  await database.query({ name: 'as the login', text: 'set local role none' }, []);
  const [found] = await database.query<{ encrypted: boolean | null }>(encryption, []);
  await database.query({ name: 'rollback', text: 'rollback' }, []);
  return found?.encrypted === true;
}

function sessionProblems(
  { user, standby, readOnly, searchPath, member }: Session,
  target: PostgresTarget,
  account: Account,
  { schema }: LoginRules,
): string[] {
  const server = serverName(target);
  const mistakes: string[] = [];
  if (searchPath !== schema) mistakes.push(poolerText(target));
  if (standby && !account.readOnly)
    mistakes.push(`${server} is a standby: name the primary in ${target.setting}.`);
  else if (readOnly && member && !account.readOnly)
    mistakes.push(
      `${server} lets ${user} only read: reset default_transaction_read_only of the role, the database or the server.`,
    );
  return mistakes;
}

/** Of a service's own role the check of roles says what it can do; here another login in the role is judged. */
function loginProblems(
  role: Role,
  { member }: Session,
  { setting }: PostgresTarget,
  account: Account,
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
