// E-mail keys of users whom an earlier version stored, and the addresses that it let several users have.
import { emailKey } from '@course-exchange/rules/email';
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { type AdminAction, auditedTransaction, fieldChanges } from '../admin/context.ts';
import type { Sub } from '../ids.ts';
import { listEmailsAfter, listEmailsOfKeys, listForeignEmails, setEmailKeys } from './user-table.ts';

export interface Refolded {
  readonly examined: number;
  readonly refolded: number;
  /** Empty: no user comes after these. */
  readonly last: string;
}

const pageSize = 1_000;

/** The users whose sub comes after `after`, at most 1,000. May be repeated. Atomic. */
export const refoldUsers: AdminAction<string, Refolded> = (context, request, after) =>
  auditedTransaction(context, request, async ({ queries, recordChange }) => {
    const users = await listEmailsAfter(queries, after, pageSize);
    const stale = users.filter((user) => user.emailKey !== emailKey(user.email));
    await setEmailKeys(queries, stale);
    if (stale.length > 0) {
      const fields = fieldChanges({}, { users: stale.length });
      recordChange({ action: 'user.refold', object: 'installation', fields });
    }
    const last = users.length < pageSize ? '' : (users.at(-1)?.sub ?? '');
    return { examined: users.length, refolded: stale.length, last };
  });

/** The users of each address that several have. Reads every user; also before the column of the keys is there. */
export async function listSharedEmails(database: Queries): Promise<Sub[][]> {
  const subs = new Map<string, Set<Sub>>();
  const add = (users: Awaited<ReturnType<typeof listForeignEmails>>) => {
    for (const { sub, email } of users) {
      const key = emailKey(email);
      subs.set(key, (subs.get(key) ?? new Set()).add(sub));
    }
  };
  // An address in ASCII is its own key, in lower case.
  add(await listForeignEmails(database));
  add(await listEmailsOfKeys(database, [...subs.keys()]));
  const groups = [...subs.values()].filter(({ size }) => size > 1).map((users) => [...users].sort());
  return groups.sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
}
