// One record of an import, checked and compared with the user who is there. Nothing of it is quoted in a reason:
// the reasons go into files.
import { createHash } from 'node:crypto';
import { type Change, fieldChanges } from '../../domain/change.ts';
import { foldEmail } from '../../domain/email.ts';
import { newId, type Sub } from '../../domain/ids.ts';
import { readPasswordHash } from '../../passwords/password-scheme.ts';
import type { KnownUser, UserRecord } from '../../store/postgres/imported-users.ts';
import type { Desk } from '../desk.ts';

/** As another system describes a user. */
export interface ImportRecord {
  /** Number of the record in its file. */
  readonly line: number;
  /** Empty: whoever has the e-mail, else somebody new. */
  readonly sub: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  /** In PHC form. */
  readonly passwordHash: string;
}

const subForm = /^[A-Za-z0-9._~-]{1,128}$/;
const emailForm = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,190}$/u;

/** One sentence; undefined when nothing is wrong with the record by itself. */
export function recordMistake({ sub, email, name, passwordHash }: ImportRecord): string | undefined {
  if (sub !== '' && !subForm.test(sub)) return 'The sub is not 1 to 128 characters of A–Z a–z 0–9 . _ ~ -.';
  if (!emailForm.test(email)) return 'The e-mail address is missing or not one.';
  if (name.length > 200 || /[\p{Cc}\p{Cs}]/u.test(name))
    return 'The name is longer than 200 characters or holds control characters.';
  return readPasswordHash(passwordHash) === undefined
    ? 'The password hash is not argon2id, bcrypt, scrypt or pbkdf2 in PHC form, or its costs are beyond bounds.'
    : undefined;
}

/** Users of a batch by sub and by folded e-mail, as the index users_email tells them apart. */
export interface KnownUsers {
  readonly bySub: ReadonlyMap<string, KnownUser>;
  readonly byEmail: ReadonlyMap<string, KnownUser>;
}

export type Verdict =
  | { readonly kind: 'rejected'; readonly reason: string }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'created' | 'updated'; readonly user: UserRecord; readonly change: Change };

/** What becomes of a record without a mistake. A password that was imported before is left alone. */
export function judgeRecord(desk: Desk, record: ImportRecord, { bySub, byEmail }: KnownUsers): Verdict {
  const sameEmail = byEmail.get(foldEmail(record.email));
  const before = record.sub === '' ? sameEmail : bySub.get(record.sub);
  if (sameEmail && sameEmail !== before)
    return { kind: 'rejected', reason: 'Another user has this e-mail address.' };
  const importedHash = createHash('sha256').update(record.passwordHash).digest('hex');
  const known = before !== undefined && before.importedHash === importedHash;
  const user: UserRecord = {
    sub: before?.sub ?? (record.sub === '' ? newId<Sub>(desk.randomBytes) : (record.sub as Sub)),
    email: record.email,
    emailVerified: record.emailVerified,
    name: record.name,
    passwordHash: known ? before.passwordHash : record.passwordHash,
    importedHash,
  };
  const fields = fieldChanges(before ? userFields(desk, before) : {}, {
    ...userFields(desk, user),
    password: known ? 'set' : 'replaced',
  });
  if (fields.length === 0) return { kind: 'unchanged' };
  const change = { action: 'user.import', object: `user:${user.sub}`, fields };
  return { kind: before ? 'updated' : 'created', user, change };
}

function userFields({ personal }: Desk, user: Omit<KnownUser, 'importedHash'>) {
  return {
    email: personal(user.email),
    email_verified: user.emailVerified,
    name: user.name === '' ? undefined : personal(user.name),
    password: 'set',
  };
}
