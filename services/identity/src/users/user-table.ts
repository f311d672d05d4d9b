// Table `users`. Requests read it fresh: disabling an account takes effect at the next one (R13.2).
import {
  allRows,
  firstRow,
  milliseconds,
  onlyRow,
  type Queries,
} from '@course-exchange/runtime/postgres/pool';
import type { Sub } from '../ids.ts';
import { costsPattern } from './password-hash.ts';
import type { KnownUser, User, UserAccount, UserName, UserRecord, UserWithPassword } from './user.ts';

const columns = `sub, email, email_verified as "emailVerified", name, disabled_at is not null as disabled,
    ${milliseconds('signed_out_at')} as "signedOutAt"`;

const loginColumns = `password_hash as "passwordHash", encode(imported_hash, 'hex') as "importedHash"`;

/** Index: users_pkey. */
export const findUser = firstRow<User, [sub: Sub]>(
  'user by sub',
  `select ${columns} from users where sub = $1`,
);

/** Undefined also while a change is in flight: the lock does not wait, and ends with the statement. */
export const findSettledUser = firstRow<UserWithPassword, [sub: Sub]>(
  'settled user by sub',
  `select ${columns}, ${loginColumns} from users where sub = $1 for share skip locked`,
);

// Index: users_email.
const userByEmail = firstRow<UserWithPassword, [email: string]>(
  'user by email',
  `select ${columns}, ${loginColumns} from users where lower(email) = lower($1)`,
);

/** Case-insensitive; disabled ones too. */
export async function findUserByEmail(
  database: Queries,
  email: string,
): Promise<UserWithPassword | undefined> {
  return email.includes('\0') ? undefined : userByEmail(database, email);
}

// Index: users_password_hash_form, with this expression (`passwordForm` in password-hash.ts): one step per form.
const form = `(substring(password_hash from '${costsPattern}')
      || regexp_replace(substring(password_hash from '${costsPattern}(.*)$'), '[^$=]', '.', 'g'))`;
const heldForms = allRows<{ readonly form: string }>(
  'password forms',
  `with recursive held (form) as (
      select min(${form}) from users
      union all
      select (select min(${form}) from users where ${form} > held.form) from held where held.form is not null)
    select form from held where form is not null`,
);

export async function listPasswordForms(database: Queries): Promise<string[]> {
  return (await heldForms(database)).map(({ form }) => form);
}

export const countUsersOfForm = onlyRow<{ readonly users: number }, [form: string]>(
  'users of a password form',
  `select count(*)::int as users from users where ${form} = $1`,
);

/** No effect when `before` is no longer the user's hash: an import may have replaced it. Index: users_pkey. */
export const replacePasswordHash = allRows<never, [sub: Sub, before: string, next: string]>(
  'replace password hash',
  'update users set password_hash = $3 where sub = $1 and password_hash = $2',
);

// Indexes: users_pkey, users_email.
const usersOfBatch = (name: string, lock = '') =>
  allRows<KnownUser, [subs: readonly string[], emails: readonly string[]]>(
    name,
    `select ${columns}, ${loginColumns} from users where sub = any($1) or lower(email) in (select lower(unnest($2::text[])))
      order by sub ${lock}`,
  );
export const readKnownUsers = usersOfBatch('users of a batch');
export const lockKnownUsers = usersOfBatch('lock users of a batch', 'for update');

const batch = `json_to_recordset($1) as given (sub text, email text, "emailVerified" boolean, name text,
      "passwordHash" text, "importedHash" text, "signedOutAt" float8)`;

const insert = allRows<{ sub: Sub }, [json: string]>(
  'insert users',
  `insert into users (sub, email, email_verified, name, password_hash, imported_hash)
    select sub, email, "emailVerified", name, "passwordHash", decode("importedHash", 'hex') from ${batch}
    on conflict do nothing returning sub`,
);

export async function insertUsers(queries: Queries, users: readonly UserRecord[]): Promise<number> {
  return (await insert(queries, JSON.stringify(users))).length;
}

const update = allRows<never, [json: string]>(
  'update users',
  `update users set email = given.email, email_verified = "emailVerified", name = given.name,
      password_hash = "passwordHash", imported_hash = decode("importedHash", 'hex'),
      signed_out_at = to_timestamp("signedOutAt" / 1000)
    from ${batch} where users.sub = given.sub`,
);

export async function updateUsers(queries: Queries, users: readonly UserRecord[]): Promise<void> {
  await update(queries, JSON.stringify(users));
}

// Indexes: users_pkey, users_email.
const accountBy = (name: string, where: string) =>
  firstRow<UserAccount, [value: string]>(
    `account by ${name}`,
    `select ${columns}, ${loginColumns}, ${milliseconds('created_at')} as "createdAt",
      ${milliseconds('disabled_at')} as "disabledAt" from users where ${where}`,
  );
const accounts = (lock = '') => ({
  bySub: accountBy(`sub${lock}`, `sub = $1${lock}`),
  byEmail: accountBy(`email${lock}`, `lower(email) = lower($1)${lock}`),
});
const account = { read: accounts(), lock: accounts(' for update') };

export async function readAccount(
  database: Queries,
  user: UserName,
  lock: 'read' | 'lock' = 'read',
): Promise<UserAccount | undefined> {
  const { bySub, byEmail } = account[lock];
  const [find, value] = 'sub' in user ? [bySub, user.sub] : [byEmail, user.email];
  return value.includes('\0') ? undefined : find(database, value);
}

/** Milliseconds since the epoch. */
export const setAccountTimes = allRows<
  never,
  [sub: Sub, disabledAt: number | null, signedOutAt: number | null]
>(
  'set times of account',
  `update users set disabled_at = to_timestamp($2::float8 / 1000),
      signed_out_at = to_timestamp($3::float8 / 1000)
    where sub = $1`,
);

// Index: users_pkey.
const subsAfter = allRows<{ sub: Sub }, [last: string, limit: number]>(
  'subs after',
  'select sub from users where sub > $1 order by sub limit $2',
);

/** Small enough that hashing a page does not delay other requests. */
const subsPage = 1_000;

/** In pages: logs name a user by an irreversible hash. */
export async function* everySub(queries: Queries): AsyncGenerator<Sub> {
  for (let last = ''; ; ) {
    const rows = await subsAfter(queries, last, subsPage);
    for (const { sub } of rows) yield sub;
    if (rows.length < subsPage) return;
    last = rows.at(-1)?.sub ?? '';
  }
}
