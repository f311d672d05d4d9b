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
import { isDamagedBcrypt, readPasswordHash } from '../login/password-formats.ts';
import { newId } from '../secrets.ts';
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
  if (!isEmail(email)) return 'The e-mail address is missing or not one.';
  if (name.length > 200 || /[\p{Cc}\p{Cs}]/u.test(name))
    return 'The name is longer than 200 characters or holds control characters.';
  if (isDamagedBcrypt(passwordHash))
    return 'The bcrypt hash is damaged: bits behind its salt or its key are set, so that no password matches it.';
  return readPasswordHash(passwordHash) === undefined
    ? 'The password hash is not argon2id, bcrypt, scrypt or pbkdf2 in PHC form, or its costs are beyond bounds.'
    : undefined;
}

/** By folded e-mail, as index users_email compares. */
interface KnownUsers {
  readonly bySub: ReadonlyMap<string, KnownUser>;
  readonly byEmail: ReadonlyMap<string, KnownUser>;
}

interface ImportRequest extends AdminRequest {
  readonly keepSessions?: boolean;
}

type ImportTransaction = AdminTransaction & Pick<ImportRequest, 'keepSessions'>;

type ImportDecision =
  | { readonly kind: 'rejected'; readonly reason: string }
  | { readonly kind: 'unchanged' }
  | {
      readonly kind: 'created' | 'updated';
      readonly user: UserRecord;
      readonly signedOut: boolean;
      readonly change: OperatorChange;
    };

/** A password that was imported before is left alone. */
function decide(
  context: ImportTransaction,
  record: ImportRecord,
  { bySub, byEmail }: KnownUsers,
): ImportDecision {
  const sameEmail = byEmail.get(foldEmail(record.email));
  const before = record.sub === '' ? sameEmail : bySub.get(record.sub);
  if (sameEmail && sameEmail !== before)
    return { kind: 'rejected', reason: 'Another user has this e-mail address.' };
  const { sub, email, emailVerified, name, passwordHash } = record;
  const importedHash = createHash('sha256').update(passwordHash).digest('hex');
  const known = before !== undefined && before.importedHash === importedHash;
  const signedOut = before !== undefined && !known && !context.keepSessions;
  const user: UserRecord = {
    sub: before?.sub ?? (sub === '' ? newId<Sub>(context.randomBytes) : (sub as Sub)),
    email,
    emailVerified,
    name,
    passwordHash: known ? before.passwordHash : passwordHash,
    importedHash,
    signedOutAt: signedOut ? context.now() : (before?.signedOutAt ?? null),
  };
  const fields = fieldChanges(before ? userFields(context, before) : {}, {
    ...userFields(context, user),
    password: known ? 'set' : 'replaced',
  });
  if (fields.length === 0) return { kind: 'unchanged' };
  const change: OperatorChange = { action: 'user.import', object: `user:${user.sub}`, fields };
  return { kind: before ? 'updated' : 'created', user, signedOut, change };
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
    const done = await importValid({ ...transaction, keepSessions: request.keepSessions ?? false }, valid);
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
    const names = [`@${foldEmail(record.email)}`, ...(record.sub === '' ? [] : [record.sub])];
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
  transaction: ImportTransaction,
  records: readonly ImportRecord[],
): Promise<ImportResult> {
  const { queries, recordChange } = transaction;
  const subs = records.map(({ sub }) => sub).filter((sub) => sub !== '');
  const emails = records.map(({ email }) => email);
  const users = await lockKnownUsers(queries, subs, emails);
  const known: KnownUsers = {
    bySub: new Map(users.map((user) => [user.sub, user])),
    byEmail: new Map(users.map((user) => [foldEmail(user.email), user])),
  };
  const rejected: Rejection[] = [];
  const written: Record<'created' | 'updated', UserRecord[]> = { created: [], updated: [] };
  let signedOut = 0;
  for (const record of records) {
    const decision = decide(transaction, record, known);
    if (decision.kind === 'rejected') rejected.push({ line: record.line, reason: decision.reason });
    if (!('user' in decision)) continue;
    written[decision.kind].push(decision.user);
    recordChange(decision.change);
    if (decision.signedOut) signedOut += 1;
  }
  const { created, updated } = written;
  if (updated.length > 0) await updateUsers(queries, updated);
  const inserted = created.length > 0 ? await insertUsers(queries, created) : 0;
  if (inserted < created.length)
    throw conflict('Another import brought some of these users. Send the batch again.');
  const unchanged = records.length - created.length - updated.length - rejected.length;
  return { created: created.length, updated: updated.length, unchanged, signedOut, rejected };
}
