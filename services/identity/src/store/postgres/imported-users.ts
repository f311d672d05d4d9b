// Table `users` as the import and operators change it.
import type { Queries } from '@course-exchange/runtime/postgres';
import type { Sub } from '../../domain/ids.ts';

/** A user as an import brings it, checked. */
export interface UserRecord {
  readonly sub: Sub;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  readonly passwordHash: string;
  /** SHA-256 of the hash that the import brought, in hex. */
  readonly importedHash: string;
}

export interface KnownUser extends Omit<UserRecord, 'importedHash'> {
  /** Null when the password never was imported. */
  readonly importedHash: string | null;
}

/** Times in milliseconds since the epoch. */
export interface UserAccount extends Omit<KnownUser, 'importedHash'> {
  readonly createdAt: number;
  readonly disabledAt: number | null;
  readonly signedOutAt: number | null;
}

// Indexes: users_pkey, users_email.
const known = {
  name: 'users of a batch',
  text: `select sub, email, email_verified as "emailVerified", name, password_hash as "passwordHash",
      encode(imported_hash, 'hex') as "importedHash"
    from users where sub = any($1) or lower(email) in (select lower(unnest($2::text[])))
    order by sub for update`,
};

/** Users who bear one of the subs or e-mails; locked. */
export async function lockKnownUsers(
  queries: Queries,
  subs: readonly string[],
  emails: readonly string[],
): Promise<KnownUser[]> {
  return queries.query<KnownUser>(known, [subs, emails]);
}

const batch = `unnest($1::text[], $2::text[], $3::boolean[], $4::text[], $5::text[], $6::text[])
      as given (sub, email, email_verified, name, password_hash, imported_hash)`;

const insert = {
  name: 'insert users',
  text: `insert into users (sub, email, email_verified, name, password_hash, imported_hash)
    select sub, email, email_verified, name, password_hash, decode(imported_hash, 'hex') from ${batch}
    on conflict do nothing returning sub`,
};

/** Number inserted: fewer than given when another import came first. */
export async function insertUsers(queries: Queries, users: readonly UserRecord[]): Promise<number> {
  return (await queries.query(insert, columnsOf(users))).length;
}

const update = {
  name: 'update users',
  text: `update users set email = given.email, email_verified = given.email_verified, name = given.name,
      password_hash = given.password_hash, imported_hash = decode(given.imported_hash, 'hex')
    from ${batch} where users.sub = given.sub`,
};

export async function updateUsers(queries: Queries, users: readonly UserRecord[]): Promise<void> {
  await queries.query(update, columnsOf(users));
}

function columnsOf(users: readonly UserRecord[]): unknown[] {
  return [
    users.map(({ sub }) => sub),
    users.map(({ email }) => email),
    users.map(({ emailVerified }) => emailVerified),
    users.map(({ name }) => name),
    users.map(({ passwordHash }) => passwordHash),
    users.map(({ importedHash }) => importedHash),
  ];
}

const account = `sub, email, email_verified as "emailVerified", name, password_hash as "passwordHash",
    (extract(epoch from created_at) * 1000)::float8 as "createdAt",
    (extract(epoch from disabled_at) * 1000)::float8 as "disabledAt",
    (extract(epoch from signed_out_at) * 1000)::float8 as "signedOutAt"`;
const bySub = { name: 'account by sub', text: `select ${account} from users where sub = $1` };
const byEmail = {
  name: 'account by email',
  text: `select ${account} from users where lower(email) = lower($1)`,
};
const bySubLocked = { name: 'account by sub for change', text: `${bySub.text} for update` };
const byEmailLocked = { name: 'account by email for change', text: `${byEmail.text} for update` };

export type UserName = { readonly sub: string } | { readonly email: string };

export async function readAccount(
  database: Queries,
  user: UserName,
  lock: 'read' | 'lock' = 'read',
): Promise<UserAccount | undefined> {
  const [plain, locked, value] =
    'sub' in user ? [bySub, bySubLocked, user.sub] : [byEmail, byEmailLocked, user.email];
  if (value.includes('\0')) return undefined;
  const [found] = await database.query<UserAccount>(lock === 'lock' ? locked : plain, [value]);
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
