// Forms of stored password hashes that cannot be verified: their users never log in until an import replaces the hash.
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { type Logger, logText } from '@course-exchange/runtime/process/logger';
import { passwordHashText, readPasswordHash } from '../users/password-hash.ts';
import { countUsersOfForm } from '../users/user-table.ts';

const unknown = 'unknown';

/** Logs each form once in a process, with the number of its users if its scheme is known. Returns at once. */
export function createFormReport(database: Queries, logger: Logger): (form: string) => void {
  const reported = new Set<string>();
  return (form) => {
    const name = describeForm(form);
    // A text of an unknown scheme may hold a salt where others have costs.
    const key = name === unknown ? unknown : form;
    if (reported.has(key)) return;
    reported.add(key);
    const counted = name === unknown ? Promise.resolve({}) : countUsersOfForm(database, form);
    counted.then(
      (count) => logger.warn('password hashes cannot be verified', { form: logText(name), ...count }),
      // The next login tries again.
      () => reported.delete(key),
    );
  };
}

/** Scheme, costs, and lengths in bytes. */
function describeForm(form: string): string {
  const { hash } = readPasswordHash(form);
  if (hash === undefined) return unknown;
  const [, ...parts] = passwordHashText(hash).split('$');
  if (hash.scheme === 'bcrypt') return `bcrypt ${parts.slice(0, 2).join(' ')}`;
  return `${parts.slice(0, -2).join(' ')} salt=${hash.salt.length} key=${hash.key.length}`;
}
