// The import of users: one batch per transaction, which may be repeated. A rejection does not quote its record, as
// reasons go into files.
import { createHash } from 'node:crypto';
import { foldEmail, isEmail } from '@course-exchange/rules/email';
import {
  type AdminContext,
  type AdminRequest,
  type AdminTransaction,
  auditedTransaction,
  conflict,
  fieldChanges,
  type OperatorChange,
  requireNoProblem,
  timeText,
} from '../admin/context.ts';
import type { Sub } from '../ids.ts';
import { newId } from '../secrets.ts';
import { isDamagedBcrypt, readPasswordHash } from './password-hash.ts';
import type { KnownUser, UserRecord } from './user.ts';
import { insertUsers, lockKnownUsers, updateUsers } from './user-table.ts';

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

const subForm = /^[A-Za-z0-9._~-]{1,128}$/;

function recordProblem({ sub, email, name, passwordHash }: ImportRecord): string | undefined {
  if (sub !== '' && !subForm.test(sub)) return 'The sub is not 1 to 128 characters of A–Z a–z 0–9 . _ ~ -.';
  if (!isEmail(email)) return 'The e-mail address is missing or invalid.';
  if (name.length > 200 || /[\p{Cc}\p{Cs}]/u.test(name))
    return 'The name is longer than 200 characters or holds control characters.';
  if (isDamagedBcrypt(passwordHash))
    return 'The bcrypt hash is damaged: bits behind its salt or its key are set, so that no password matches it.';
  return readPasswordHash(passwordHash) === undefined
    ? 'The password hash is not argon2id, bcrypt, scrypt or pbkdf2 in PHC form, or its costs are beyond bounds.'
    : undefined;
}

/** By sub, and by name of their e-mail. */
type KnownUsers = ReadonlyMap<string, KnownUser>;

/** Folded, as index users_email compares; no sub has an `@`. */
function emailName(email: string): string {
  return `@${foldEmail(email)}`;
}

interface ImportRequest extends AdminRequest {
  readonly keepSessions?: boolean;
}

/** The reason of a rejection; undefined: unchanged. A password that was imported before is left alone. */
function decide(
  transaction: AdminTransaction,
  { sub, email, emailVerified, name, passwordHash }: ImportRecord,
  knownUsers: KnownUsers,
  keepSessions: boolean,
) {
  const sameEmail = knownUsers.get(emailName(email));
  const before = sub === '' ? sameEmail : knownUsers.get(sub);
  if (sameEmail && sameEmail !== before) return 'Another user has this e-mail address.';
  const importedHash = createHash('sha256').update(passwordHash).digest('hex');
  const known = before !== undefined && before.importedHash === importedHash;
  const signedOut = before !== undefined && !known && !keepSessions;
  const user: UserRecord = {
    sub: before?.sub ?? (sub === '' ? newId<Sub>(transaction.randomBytes) : (sub as Sub)),
    email,
    emailVerified,
    name,
    passwordHash: known ? before.passwordHash : passwordHash,
    importedHash,
    signedOutAt: signedOut ? transaction.now() : (before?.signedOutAt ?? null),
  };
  const fields = fieldChanges(before ? userFields(transaction, before) : {}, {
    ...userFields(transaction, user),
    password: known ? 'set' : 'replaced',
  });
  if (fields.length === 0) return undefined;
  const change: OperatorChange = { action: 'user.import', object: `user:${user.sub}`, fields };
  return { isNew: before === undefined, user, signedOut, change };
}

function userFields({ pseudonymize }: AdminTransaction, user: Omit<KnownUser, 'importedHash'>) {
  return {
    email: pseudonymize(user.email),
    email_verified: user.emailVerified,
    name: user.name === '' ? undefined : pseudonymize(user.name),
    password: 'set',
    signed_out_at: timeText(user.signedOutAt),
  };
}

interface Rejection {
  readonly line: number;
  readonly reason: string;
}

export interface ImportResult {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly signedOut: number;
  readonly rejected: readonly Rejection[];
}

const largestBatch = 1_000;

/** Throws `invalid_argument` (too many), `conflict` (another import brought the same users). Atomic. */
export async function importUsers(
  context: AdminContext,
  request: ImportRequest,
  records: readonly ImportRecord[],
): Promise<ImportResult> {
  requireNoProblem(records.length > largestBatch ? [`A batch has at most ${largestBatch} records.`] : []);
  const { rejected, valid } = validate(records);
  const { result } = await auditedTransaction(context, request, async (transaction) => {
    const done = await importValid(transaction, valid, request.keepSessions ?? false);
    return { ...done, rejected: [...rejected, ...done.rejected].sort((a, b) => a.line - b.line) };
  });
  return result;
}

/** Also rejects a user whom an earlier record of the batch names. */
function validate(records: readonly ImportRecord[]) {
  const rejected: Rejection[] = [];
  const valid: ImportRecord[] = [];
  const seen = new Set<string>();
  for (const record of records) {
    const names = [emailName(record.email), ...(record.sub === '' ? [] : [record.sub])];
    const repeated = names.some((name) => seen.has(name));
    const reason =
      recordProblem(record) ?? (repeated ? 'An earlier record of the batch names the same user.' : undefined);
    if (reason === undefined) {
      valid.push(record);
      for (const name of names) seen.add(name);
    } else rejected.push({ line: record.line, reason });
  }
  return { rejected, valid };
}

async function importValid(
  transaction: AdminTransaction,
  records: readonly ImportRecord[],
  keepSessions: boolean,
): Promise<ImportResult> {
  const { queries, recordChange } = transaction;
  const subs = records.map(({ sub }) => sub).filter((sub) => sub !== '');
  const emails = records.map(({ email }) => email);
  const users = await lockKnownUsers(queries, subs, emails);
  const known = new Map(
    users.flatMap((user) => [user.sub, emailName(user.email)].map((name) => [name, user] as const)),
  );
  const [rejected, created, updated]: [Rejection[], UserRecord[], UserRecord[]] = [[], [], []];
  let signedOut = 0;
  for (const record of records) {
    const decision = decide(transaction, record, known, keepSessions);
    if (typeof decision === 'string') rejected.push({ line: record.line, reason: decision });
    if (typeof decision !== 'object') continue;
    (decision.isNew ? created : updated).push(decision.user);
    recordChange(decision.change);
    if (decision.signedOut) signedOut += 1;
  }
  if (updated.length > 0) await updateUsers(queries, updated);
  const inserted = created.length > 0 ? await insertUsers(queries, created) : 0;
  if (inserted < created.length)
    throw conflict('Another import brought some of these users. Send the batch again.');
  const unchanged = records.length - created.length - updated.length - rejected.length;
  return { created: created.length, updated: updated.length, unchanged, signedOut, rejected };
}
