// Table `users`, read fresh each time: disabling an account holds at the next request (R13).
import type { Queries } from '@course-exchange/runtime/postgres';
import type { Sub } from '../../domain/ids.ts';

export interface User {
  readonly sub: Sub;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  readonly disabled: boolean;
  /** Milliseconds since the epoch: what was issued up to here is dead (R13). */
  readonly signedOutAt: number | null;
}

export interface UserWithPassword extends User {
  /** In PHC form: argon2id (R18), or as imported until the next login. */
  readonly passwordHash: string;
}

const columns = `sub, email, email_verified as "emailVerified", name, disabled_at is not null as disabled,
    (extract(epoch from signed_out_at) * 1000)::float8 as "signedOutAt"`;

// Index: users_pkey.
const bySub = { name: 'user by sub', text: `select ${columns} from users where sub = $1` };

// Index: users_email.
export const userByEmailStatement = {
  name: 'user by email',
  text: `select ${columns}, password_hash as "passwordHash" from users where lower(email) = lower($1)`,
};

/** Undefined when the user was deleted. */
export async function findUser(database: Queries, sub: Sub): Promise<User | undefined> {
  const [user] = await database.query<User>(bySub, [sub]);
  return user;
}

/** The account that signs in with `email`, whatever its letter case; disabled ones too. */
export async function findUserByEmail(
  database: Queries,
  email: string,
): Promise<UserWithPassword | undefined> {
  if (email.includes('\0')) return undefined;
  const [user] = await database.query<UserWithPassword>(userByEmailStatement, [email]);
  return user;
}

// Index: users_pkey. The hash before is compared: an import may have brought another one meanwhile.
const replaceHash = {
  name: 'replace password hash',
  text: 'update users set password_hash = $3 where sub = $1 and password_hash = $2',
};

/** Puts `next` in the place of `before`; nothing happens when `before` is no longer the user's hash. */
export async function replacePasswordHash(
  database: Queries,
  sub: Sub,
  before: string,
  next: string,
): Promise<void> {
  await database.query(replaceHash, [sub, before, next]);
}
