// What a line of an import must be, whatever the users that are there.
import { createHash } from 'node:crypto';
import { isEmail } from '@course-exchange/rules/email';
import { type PasswordHash, readPasswordHash } from './password-hash.ts';

export interface ImportRecord {
  /** In its file. */
  readonly line: number;
  /** Empty: the user with this e-mail address, else a new one. */
  readonly sub: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  /** In PHC form. */
  readonly passwordHash: string;
}

/** With its hash as read, and as compared with what was imported before. */
export interface ValidRecord extends ImportRecord {
  readonly hash: PasswordHash;
  readonly importedHash: string;
}

const subForm = /^[A-Za-z0-9._~-]{1,128}$/;

function recordProblem({ sub, email, name }: ImportRecord): string | undefined {
  if (sub !== '' && !subForm.test(sub)) return 'The sub is not 1 to 128 characters of A–Z a–z 0–9 . _ ~ -.';
  if (!isEmail(email)) return 'The e-mail address is missing or invalid.';
  if (name.length > 200 || /[\p{Cc}\p{Cs}]/u.test(name))
    return 'The name is longer than 200 characters or holds control characters.';
  return undefined;
}

export interface Rejection {
  readonly line: number;
  readonly reason: string;
}

export function validate(records: readonly ImportRecord[]) {
  const rejected: Rejection[] = [];
  const valid: ValidRecord[] = [];
  for (const record of records) {
    const { hash, problem } = readPasswordHash(record.passwordHash);
    const reason = recordProblem(record) ?? problem;
    if (reason === undefined && hash !== undefined) {
      const importedHash = createHash('sha256').update(record.passwordHash).digest('hex');
      valid.push({ ...record, hash, importedHash });
    } else rejected.push({ line: record.line, reason: reason ?? '' });
  }
  return { rejected, valid };
}
