// Table `users`. Requests read it fresh: disabling an account takes effect at the next one (R13).
import { forUpdate, milliseconds, type Queries } from '@course-exchange/runtime/postgres/pool';
import type { Sub } from '../ids.ts';
import type { KnownUser, User, UserAccount, UserName, UserRecord, UserWithPassword } from './user.ts';

const columns = `sub, email, email_verified as "emailVerified", name, disabled_at is not null as disabled,
    ${milliseconds('signed_out_at')} as "signedOutAt"`;

const loginColumns = `password_hash as "passwordHash", encode(imported_hash, 'hex') as "importedHash"`;

// Index: users_pkey.
const bySub = { name: 'user by sub', text: `select ${columns} from users where sub = $1` };

// Index: users_email.
export const userByEmailStatement = {
  name: 'user by email',
  text: `select ${columns}, ${loginColumns} from users where lower(email) = lower($1)`,
};

// Index: users_pkey. Does not wait; the lock ends with the statement.
const settledBySub = {
  name: 'settled user by sub',
  text: `select ${columns}, ${loginColumns} from users where sub = $1 for share skip locked`,
};

export async function findUser(database: Queries, sub: Sub): Promise<User | undefined> {
  const [user] = await database.query<User>(bySub, [sub]);
  return user;
}

/** Undefined also while a change is in flight. */
export async function findSettledUser(database: Queries, sub: Sub): Promise<UserWithPassword | undefined> {
  const [user] = await database.query<UserWithPassword>(settledBySub, [sub]);
  return user;
}

/** Case-insensitive; disabled ones too. */
export async function findUserByEmail(
  database: Queries,
  email: string,
): Promise<UserWithPassword | undefined> {
  if (email.includes('\0')) return undefined;
  const [user] = await database.query<UserWithPassword>(userByEmailStatement, [email]);
  return user;
}

// Index: users_password_form, with this expression: one step per form.
const form = String.raw`substring(password_hash from '^\$(?:argon2id\$v=19|[^$]+)\$[^$]+\$')`;
export const passwordFormsStatement = {
  name: 'password forms',
  text: `with recursive held (form) as (
      select min(${form}) from users
      union all
      select (select min(${form}) from users where ${form} > held.form) from held where held.form is not null)
    select form from held where form is not null`,
};

export async function listPasswordForms(database: Queries): Promise<string[]> {
  const rows = await database.query<{ readonly form: string }>(passwordFormsStatement, []);
  return rows.map(({ form }) => form);
}

// Index: users_pkey. An import may have replaced the hash meanwhile.
const replaceHash = {
  name: 'replace password hash',
  text: 'update users set password_hash = $3 where sub = $1 and password_hash = $2',
};

/** No effect when `before` is no longer the user's hash. */
export async function replacePasswordHash(
  database: Queries,
  sub: Sub,
  before: string,
  next: string,
): Promise<void> {
  await database.query(replaceHash, [sub, before, next]);
}

// Indexes: users_pkey, users_email.
const known = {
  name: 'users of a batch',
  text: `select ${columns}, ${loginColumns} from users where sub = any($1) or lower(email) in (select lower(unnest($2::text[])))
    order by sub for update`,
};

export async function lockKnownUsers(
  queries: Queries,
  subs: readonly string[],
  emails: readonly string[],
): Promise<KnownUser[]> {
  return queries.query<KnownUser>(known, [subs, emails]);
}

const batch = `unnest($1::text[], $2::text[], $3::boolean[], $4::text[], $5::text[], $6::text[],
      $7::float8[]) as given (sub, email, email_verified, name, password_hash, imported_hash, signed_out_at)`;

const insert = {
  name: 'insert users',
  text: `insert into users (sub, email, email_verified, name, password_hash, imported_hash)
    select sub, email, email_verified, name, password_hash, decode(imported_hash, 'hex') from ${batch}
    on conflict do nothing returning sub`,
};

export async function insertUsers(queries: Queries, users: readonly UserRecord[]): Promise<number> {
  return (await queries.query(insert, columnsOf(users))).length;
}

const update = {
  name: 'update users',
  text: `update users set email = given.email, email_verified = given.email_verified, name = given.name,
      password_hash = given.password_hash, imported_hash = decode(given.imported_hash, 'hex'),
      signed_out_at = to_timestamp(given.signed_out_at / 1000)
    from ${batch} where users.sub = given.sub`,
};

export async function updateUsers(queries: Queries, users: readonly UserRecord[]): Promise<void> {
  await queries.query(update, columnsOf(users));
}

function columnsOf(users: readonly UserRecord[]): unknown[] {
  const names = [
    'sub',
    'email',
    'emailVerified',
    'name',
    'passwordHash',
    'importedHash',
    'signedOutAt',
  ] as const;
  return names.map((name) => users.map((user) => user[name]));
}

const account = `select ${columns}, ${loginColumns}, ${milliseconds('created_at')} as "createdAt",
      ${milliseconds('disabled_at')} as "disabledAt"
    from users`;
// Index: users_pkey.
const accountBySub = { name: 'account by sub', text: `${account} where sub = $1` };
// Index: users_email.
const accountByEmail = { name: 'account by email', text: `${account} where lower(email) = lower($1)` };

export async function readAccount(
  database: Queries,
  user: UserName,
  lock: 'read' | 'lock' = 'read',
): Promise<UserAccount | undefined> {
  const [statement, value] = 'sub' in user ? [accountBySub, user.sub] : [accountByEmail, user.email];
  if (value.includes('\0')) return undefined;
  const [found] = await database.query<UserAccount>(lock === 'lock' ? forUpdate(statement) : statement, [
    value,
  ]);
  return found;
}

const setTimes = {
  name: 'set times of account',
  text: `update users set disabled_at = to_timestamp($2::float8 / 1000),
      signed_out_at = to_timestamp($3::float8 / 1000)
    where sub = $1`,
};

export async function updateAccount(
  queries: Queries,
  { sub, disabledAt, signedOutAt }: UserAccount,
): Promise<void> {
  await queries.query(setTimes, [sub, disabledAt, signedOutAt]);
}

// Index: users_pkey.
const nextSubs = { name: 'subs after', text: 'select sub from users where sub > $1 order by sub limit $2' };

/** Small enough that hashing a page does not delay other requests. */
const subsPage = 1_000;

/** In pages: logs name a user by an irreversible hash. */
export async function* everySub(queries: Queries): AsyncGenerator<Sub> {
  for (let last = ''; ; ) {
    const rows = await queries.query<{ sub: Sub }>(nextSubs, [last, subsPage]);
    for (const { sub } of rows) yield sub;
    if (rows.length < subsPage) return;
    last = rows.at(-1)?.sub ?? '';
  }
}
