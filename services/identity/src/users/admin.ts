// Operators' actions on one account.
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import {
  type Action,
  type AdminAction,
  type AdminContext,
  type AdminTransaction,
  auditedTransaction,
  type Fields,
  fieldChanges,
  notFound,
  refused,
  timeText,
} from '../admin/context.ts';
import type { Sub } from '../ids.ts';
import type { UserAccount, UserName } from './user.ts';
import { everySub, readAccounts, setAccountTimes } from './user-table.ts';

export interface UserContext extends AdminContext {
  readonly keyedUser: (sub: string) => string;
  readonly clearFailedLogins: (email: string) => Promise<void>;
}

/** Throws `not_found`, which does not quote an e-mail address. */
export async function getAccount(
  context: Pick<AdminContext, 'database'>,
  user: UserName,
): Promise<UserAccount> {
  return requireAccount(context.database, user);
}

/** Throws `not_found`, and `refused` where several users have this e-mail address in other spellings (R30.14). */
export async function requireAccount(
  queries: Queries,
  user: UserName,
  lock: 'read' | 'lock' = 'read',
): Promise<UserAccount> {
  const [account, ...others] = await readAccounts(queries, user, lock);
  if (others.length > 0)
    throw refused('Several users have this e-mail address, in other spellings. Give the sub of one.');
  if (account === undefined)
    throw notFound('sub' in user ? `user ${user.sub.slice(0, 128)}` : 'user with this e-mail address');
  return account;
}

/** By the hash in logs: compares every user's. Throws `not_found`. */
export async function getAccountByHash(
  context: Pick<UserContext, 'database' | 'keyedUser'>,
  userHash: string,
): Promise<UserAccount> {
  for await (const sub of everySub(context.database))
    if (context.keyedUser(sub) === userHash) return getAccount(context, { sub });
  throw notFound('user with this hash');
}

/** Ends login, exchange, refresh, user-info and sessions. Throws `not_found`. Atomic. */
export const disableUser = accountChange('user.disable', disabled);

function disabled(account: UserAccount, now: number): UserAccount {
  return account.disabledAt === null ? { ...account, disabledAt: now, signedOutAt: now } : account;
}

export async function disableSub(transaction: AdminTransaction, sub: Sub): Promise<void> {
  const [before] = await readAccounts(transaction.queries, { sub }, 'lock');
  if (before) await writeAccount(transaction, 'user.disable', before, disabled(before, transaction.now()));
}

/** Restores the login, not what the disabling ended. Throws `not_found`. Atomic. */
export const enableUser = accountChange('user.enable', (account) => ({ ...account, disabledAt: null }));

/** Ends sessions, codes and refresh tokens. Throws `not_found`. Atomic. */
export const signOutUser = accountChange('user.sign-out', (account, now) => ({
  ...account,
  signedOutAt: now,
}));

/** Forgets the failed logins of a user, which delay the next ones (R30.17). Throws `not_found`, `temporarily_unavailable`. */
export const unthrottleUser: AdminAction<UserName, UserAccount, UserContext> = (context, request, user) =>
  auditedTransaction(context, request, async ({ queries, recordChange }) => {
    const account = await requireAccount(queries, user);
    const fields = fieldChanges({}, { failed_logins: 'cleared' });
    recordChange({ action: 'user.unthrottle', object: `user:${account.sub}`, fields });
    if (!request.dryRun) await context.clearFailedLogins(account.email);
    return account;
  });

function accountChange(
  action: Action,
  change: (account: UserAccount, now: number) => UserAccount,
): AdminAction<UserName, UserAccount> {
  return (context, request, user) =>
    auditedTransaction(context, request, async (transaction) => {
      const before = await requireAccount(transaction.queries, user, 'lock');
      return writeAccount(transaction, action, before, change(before, transaction.now()));
    });
}

async function writeAccount(
  { queries, recordChange }: AdminTransaction,
  action: Action,
  before: UserAccount,
  after: UserAccount,
): Promise<UserAccount> {
  const fields = fieldChanges(times(before), times(after));
  if (fields.length === 0) return before;
  recordChange({ action, object: `user:${before.sub}`, fields });
  await setAccountTimes(queries, after.sub, after.disabledAt, after.signedOutAt);
  return after;
}

function times({ disabledAt, signedOutAt }: UserAccount): Fields {
  return { disabled_at: timeText(disabledAt), signed_out_at: timeText(signedOutAt) };
}
