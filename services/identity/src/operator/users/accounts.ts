// A user's account as operators look at it, and how it is shut, opened and signed out. Sessions and grants are
// ended by their time of issue (R13), without a search through Redis.
import type { Fields } from '../../domain/change.ts';
import { fieldChanges } from '../../domain/change.ts';
import {
  readAccount,
  type UserAccount,
  type UserName,
  updateAccount,
} from '../../store/postgres/imported-users.ts';
import { carryOut, type Desk, notFound, type Order, type Outcome } from '../desk.ts';

/** Throws `not_found`, which does not quote an e-mail address. */
export async function getAccount(desk: Desk, user: UserName): Promise<UserAccount> {
  return existing(await readAccount(desk.database, user), user);
}

/** No login, exchange, refresh or user-info any more, and signed out everywhere. Throws `not_found`. Atomic. */
export function disableUser(desk: Desk, order: Order, user: UserName): Promise<Outcome<UserAccount>> {
  return changeAccount(desk, order, 'user.disable', user, (account) =>
    account.disabledAt === null ? { ...account, disabledAt: desk.now(), signedOutAt: desk.now() } : account,
  );
}

/** May log in again; what the disabling ended stays ended. Throws `not_found`. Atomic. */
export function enableUser(desk: Desk, order: Order, user: UserName): Promise<Outcome<UserAccount>> {
  return changeAccount(desk, order, 'user.enable', user, (account) => ({ ...account, disabledAt: null }));
}

/** Ends all sessions, codes and refresh tokens from before now. Throws `not_found`. Atomic. */
export function signOutUser(desk: Desk, order: Order, user: UserName): Promise<Outcome<UserAccount>> {
  return changeAccount(desk, order, 'user.sign-out', user, (account) => ({
    ...account,
    signedOutAt: desk.now(),
  }));
}

async function changeAccount(
  desk: Desk,
  order: Order,
  action: string,
  user: UserName,
  change: (account: UserAccount) => UserAccount,
): Promise<Outcome<UserAccount>> {
  return carryOut(desk, order, async (queries, note) => {
    const before = existing(await readAccount(queries, user, 'lock'), user);
    const after = change(before);
    const fields = fieldChanges(times(before), times(after));
    if (fields.length === 0) return before;
    note({ action, object: `user:${before.sub}`, fields });
    await updateAccount(queries, after);
    return after;
  });
}

function times({ disabledAt, signedOutAt }: UserAccount): Fields {
  const text = (time: number | null) => (time === null ? undefined : new Date(time).toISOString());
  return { disabled_at: text(disabledAt), signed_out_at: text(signedOutAt) };
}

function existing(account: UserAccount | undefined, user: UserName): UserAccount {
  if (account === undefined)
    throw notFound('sub' in user ? `user ${user.sub.slice(0, 128)}` : 'user with this e-mail address');
  return account;
}
