// Table `users`. Requests read it fresh: disabling an account takes effect at the next one (R13.2).
import { emailKey } from '@course-exchange/rules/email';
import {
  allRows,
  firstRead,
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

const loginColumns = `password_hash as "passwordHash", encode(imported_hash, 'hex') as "importedHash",
    email_key as "emailKey"`;

// Indexes: users_email, users_email_key. `spellings` is an array of addresses and of their keys.
const spelled = (spellings: string) =>
  `(lower(email) = any(array(select lower(unnest(${spellings}::text[])))) or email_key = any(${spellings}))`;

/** With their keys. */
function spellingsOf(emails: readonly string[]): string[] {
  return emails.flatMap((email) => [email, emailKey(email)]);
}

/** Spelled as asked, in any letter case. */
interface Spelled {
  readonly isExact: boolean;
}
const exactColumn = `lower(email) = lower(($1::text[])[1]) as "isExact"`;

/** The user of this spelling, else those of this address: several only in other spellings (R30.14). */
function usersOfSpelling<T extends Pick<User, 'email'> & Spelled>(users: readonly T[], email: string): T[] {
  const exact = users.filter(({ isExact }) => isExact);
  return exact.length > 0 ? exact : users.filter((user) => emailKey(user.email) === emailKey(email));
}

/** Index: users_pkey. */
export const findUser = firstRead<User, [sub: Sub]>(
  'user by sub',
  `select ${columns} from users where sub = $1`,
);

/** Undefined also while a change is in flight: the lock does not wait, and ends with the statement. */
export const findSettledUser = firstRow<UserWithPassword, [sub: Sub]>(
  'settled user by sub',
  `select ${columns}, ${loginColumns} from users where sub = $1 for share skip locked`,
);

const usersByEmail = allRows<UserWithPassword & Spelled, [spellings: readonly string[]]>(
  'users by email',
  `select ${columns}, ${loginColumns}, ${exactColumn} from users where ${spelled('$1')}`,
);

/** In any letter case and spelling; disabled ones too. */
export async function findUserByEmail(
  database: Queries,
  email: string,
): Promise<UserWithPassword | undefined> {
  if (email.includes('\0')) return undefined;
  const [user, ...others] = usersOfSpelling(await usersByEmail(database, spellingsOf([email])), email);
  return others.length === 0 ? user : undefined;
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

// Index: users_pkey, and those of `spelled`.
const usersOfBatch = (name: string, lock = '') => {
  const find = allRows<KnownUser, [subs: readonly string[], spellings: readonly string[]]>(
    name,
    `select ${columns}, ${loginColumns} from users where sub = any($1) or ${spelled('$2')} order by sub ${lock}`,
  );
  return (database: Queries, subs: readonly string[], emails: readonly string[]) =>
    find(database, subs, spellingsOf(emails));
};
export const readKnownUsers = usersOfBatch('users of a batch');
export const lockKnownUsers = usersOfBatch('lock users of a batch', 'for update');

/** Until the transaction ends: only one at a time decides whose an e-mail address is. */
export const lockEmails = allRows<never>(
  'lock e-mail addresses',
  `select from pg_advisory_xact_lock(hashtext('identity.users.email_key'))`,
);

const batch = `json_to_recordset($1) as given (sub text, email text, "emailKey" text, "emailVerified" boolean, name text,
      "passwordHash" text, "importedHash" text, "signedOutAt" float8)`;

const insert = allRows<{ sub: Sub }, [json: string]>(
  'insert users',
  `insert into users (sub, email, email_key, email_verified, name, password_hash, imported_hash)
    select sub, email, "emailKey", "emailVerified", name, "passwordHash", decode("importedHash", 'hex') from ${batch}
    on conflict do nothing returning sub`,
);

export async function insertUsers(queries: Queries, users: readonly UserRecord[]): Promise<number> {
  return (await insert(queries, JSON.stringify(users))).length;
}

const update = allRows<never, [json: string]>(
  'update users',
  `update users set email = given.email, email_key = "emailKey", email_verified = "emailVerified", name = given.name,
      password_hash = "passwordHash", imported_hash = decode("importedHash", 'hex'),
      signed_out_at = to_timestamp("signedOutAt" / 1000)
    from ${batch} where users.sub = given.sub`,
);

export async function updateUsers(queries: Queries, users: readonly UserRecord[]): Promise<void> {
  await update(queries, JSON.stringify(users));
}

const accountColumns = `${columns}, ${loginColumns}, ${milliseconds('created_at')} as "createdAt",
      ${milliseconds('disabled_at')} as "disabledAt"`;
// Index: users_pkey, and those of `spelled`.
const accounts = (lock = '') => ({
  bySub: allRows<UserAccount, [sub: string]>(
    `account by sub${lock}`,
    `select ${accountColumns} from users where sub = $1${lock}`,
  ),
  byEmail: allRows<UserAccount & Spelled, [spellings: readonly string[]]>(
    `accounts by email${lock}`,
    `select ${accountColumns}, ${exactColumn} from users where ${spelled('$1')}${lock}`,
  ),
});
const account = { read: accounts(), lock: accounts(' for update') };

/** Several only of an address that they share, in other spellings (R30.14). */
export async function readAccounts(
  database: Queries,
  user: UserName,
  lock: 'read' | 'lock' = 'read',
): Promise<UserAccount[]> {
  const { bySub, byEmail } = account[lock];
  const name = 'sub' in user ? user.sub : user.email;
  if (name.includes('\0')) return [];
  return 'sub' in user
    ? bySub(database, name)
    : usersOfSpelling(await byEmail(database, spellingsOf([name])), name);
}

const setKeys = allRows<never, [json: string]>(
  'set e-mail keys',
  `update users set email_key = given."emailKey"
    from json_to_recordset($1) as given (sub text, email text, "emailKey" text)
    where users.sub = given.sub and users.email = given.email`,
);

/** No effect on a user whose address has changed meanwhile. */
export async function setEmailKeys(
  queries: Queries,
  users: readonly Pick<User, 'sub' | 'email'>[],
): Promise<void> {
  if (users.length === 0) return;
  const given = users.map(({ sub, email }) => ({ sub, email, emailKey: emailKey(email) }));
  await setKeys(queries, JSON.stringify(given));
}

type UserEmail = Pick<UserWithPassword, 'sub' | 'email' | 'emailKey'>;

// Index: users_pkey.
export const listEmailsAfter = allRows<UserEmail, [last: string, limit: number]>(
  'e-mail addresses after',
  'select sub, email, email_key as "emailKey" from users where sub > $1 order by sub limit $2',
);

/** Reads every user. Without `email_key`, so that it can run before its migration. */
export const listForeignEmails = allRows<Pick<User, 'sub' | 'email'>>(
  'e-mail addresses beyond ASCII',
  `select sub, email from users where email ~ '[^[:ascii:]]'`,
);

/** Whom no other spelling finds. Index: users_without_email_key. */
export const listUnkeyedForeignEmails = allRows<Pick<User, 'sub' | 'email'>>(
  'e-mail addresses without a key',
  `select sub, email from users where email_key is null and email ~ '[^[:ascii:]]'`,
);

// Index: users_email.
export const listEmailsOfKeys = allRows<Pick<User, 'sub' | 'email'>, [keys: readonly string[]]>(
  'e-mail addresses that are keys',
  'select sub, email from users where lower(email) = any($1)',
);

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
