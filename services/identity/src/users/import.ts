// The import of users: one batch per transaction, which may be repeated. A rejection does not quote its record, as
// reasons go into files.
import { emailKey } from '@course-exchange/rules/email';
import type { Queries } from '@course-exchange/runtime/postgres/pool';
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
import type { RandomBytes, Sub } from '../ids.ts';
import { newId } from '../secrets.ts';
import { type ImportRecord, type Rejection, type ValidRecord, validate } from './import-record.ts';
import { decideUser, findKnown, indexUsers, type KnownUsers } from './known-users.ts';
import { formOf, type PasswordHash, passwordHashText } from './password-hash.ts';
import type { KnownUser, UserRecord } from './user.ts';
import {
  insertUsers,
  listPasswordForms,
  listUnkeyedForeignEmails,
  lockEmails,
  lockKnownUsers,
  readKnownUsers,
  setEmailKeys,
  updateUsers,
} from './user-table.ts';

export interface ImportContext extends AdminContext {
  readonly randomBytes: RandomBytes;
  readonly pseudonymize: (text: string) => string;
  /** Whether the verifier computes hashes of this one's form. Throws `temporarily_unavailable` when it cannot tell. */
  readonly verifiesForm: (hash: PasswordHash) => Promise<boolean>;
}

type ImportTransaction = AdminTransaction<ImportContext>;

function namesOf(records: readonly ImportRecord[]) {
  const subs = records.map(({ sub }) => sub).filter((sub) => sub !== '');
  return [subs, records.map(({ email }) => email)] as const;
}

interface ImportRequest extends AdminRequest {
  readonly keepSessions?: boolean;
}

function formProblem(hash: PasswordHash, problems: FormProblems): string | undefined {
  const form = formOf(hash);
  if (!problems.has(form)) throw conflict('Another import brought this user. Send the batch again.');
  return problems.get(form);
}

/** The reason of a rejection; without `change`: unchanged. A password that was imported before is left alone. */
function decide(
  transaction: ImportTransaction,
  record: ValidRecord,
  knownUsers: KnownUsers,
  formProblems: FormProblems,
  keepSessions: boolean,
) {
  const { sub, email, emailVerified, name, hash, importedHash } = record;
  const { before, isDecided, takesEmail } = findKnown(record, knownUsers);
  if (isDecided) return 'An earlier record of the batch names the same user.';
  if (takesEmail) return 'Another user has this e-mail address.';
  const known = before !== undefined && before.importedHash === importedHash;
  const problem = known ? undefined : formProblem(hash, formProblems);
  if (problem !== undefined) return problem;
  const signedOut = before !== undefined && !known && !keepSessions;
  const user: UserRecord = {
    sub: before?.sub ?? (sub === '' ? newId<Sub>(transaction.randomBytes) : (sub as Sub)),
    email,
    emailVerified,
    name,
    passwordHash: known ? before.passwordHash : passwordHashText(hash),
    importedHash,
    signedOutAt: signedOut ? transaction.now() : (before?.signedOutAt ?? null),
    emailKey: emailKey(email),
  };
  const fields = fieldChanges(before ? userFields(transaction, before) : {}, {
    ...userFields(transaction, user),
    password: known ? 'set' : 'replaced',
  });
  const change: OperatorChange = { action: 'user.import', object: `user:${user.sub}`, fields };
  return { user, before, signedOut, ...(fields.length > 0 && { change }) };
}

function userFields({ pseudonymize }: ImportContext, user: Omit<KnownUser, 'importedHash' | 'emailKey'>) {
  return {
    email: pseudonymize(user.email),
    email_verified: user.emailVerified,
    name: user.name === '' ? undefined : pseudonymize(user.name),
    password: 'set',
    signed_out_at: timeText(user.signedOutAt),
  };
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
  context: ImportContext,
  request: ImportRequest,
  records: readonly ImportRecord[],
): Promise<ImportResult> {
  requireNoProblem(records.length > largestBatch ? [`A batch has at most ${largestBatch} records.`] : []);
  const { rejected, valid } = validate(records);
  const formProblems = await checkForms(context, valid);
  const { result } = await auditedTransaction(context, request, async (transaction) => {
    const done = await importValid(transaction, valid, formProblems, request.keepSessions ?? false);
    return { ...done, rejected: [...rejected, ...done.rejected].sort((a, b) => a.line - b.line) };
  });
  return result;
}

/** By form; undefined: the verifier computes it. */
type FormProblems = ReadonlyMap<string, string | undefined>;

const mostNewForms = 16;
const tooManyForms = `A batch brings at most ${mostNewForms} forms of password hashes (scheme, costs, lengths) that no user has yet: import this line again when the others are imported.`;
const refusedForm = 'The verifier refuses the costs or the lengths of the password hash.';

/** Of the hashes that would be stored (R18.7). May take a second for each form, so no transaction is open. */
async function checkForms(context: ImportContext, records: readonly ValidRecord[]): Promise<FormProblems> {
  const knownUsers = indexUsers(await readKnownUsers(context.database, ...namesOf(records)));
  const held = new Set(await listPasswordForms(context.database));
  const problems = new Map<string, string | undefined>();
  let added = 0;
  for (const record of records) {
    const form = formOf(record.hash);
    const { before, takesEmail } = findKnown(record, knownUsers);
    if (takesEmail || before?.importedHash === record.importedHash || problems.has(form)) continue;
    const isNew = !held.has(form);
    // Also one that an earlier version stored without computing it.
    const problem = isNew && added === mostNewForms ? tooManyForms : await whyRefused(context, record.hash);
    if (isNew && problem === undefined) added += 1;
    problems.set(form, problem);
  }
  return problems;
}

async function whyRefused({ verifiesForm }: ImportContext, hash: PasswordHash): Promise<string | undefined> {
  return (await verifiesForm(hash)) ? undefined : refusedForm;
}

async function importValid(
  transaction: ImportTransaction,
  records: readonly ValidRecord[],
  formProblems: FormProblems,
  keepSessions: boolean,
): Promise<ImportResult> {
  const { queries, recordChange } = transaction;
  await lockEmails(queries);
  // Of an earlier version: no other spelling would find them.
  await setEmailKeys(queries, await listUnkeyedForeignEmails(queries));
  const knownUsers = indexUsers(await lockKnownUsers(queries, ...namesOf(records)));
  const rejected: Rejection[] = [];
  const changed: ChangedUsers = { created: [], updated: [], refolded: [] };
  let signedOut = 0;
  for (const record of records) {
    const decision = decide(transaction, record, knownUsers, formProblems, keepSessions);
    if (typeof decision === 'string') {
      rejected.push({ line: record.line, reason: decision });
      continue;
    }
    const { user, before, change } = decision;
    decideUser(knownUsers, user);
    if (change) {
      changed[before ? 'updated' : 'created'].push(user);
      recordChange(change);
      if (decision.signedOut) signedOut += 1;
    } else if (before?.emailKey !== user.emailKey) changed.refolded.push(user);
  }
  await writeUsers(queries, changed);
  const [created, updated] = [changed.created.length, changed.updated.length];
  return {
    created,
    updated,
    unchanged: records.length - created - updated - rejected.length,
    signedOut,
    rejected,
  };
}

interface ChangedUsers {
  readonly created: UserRecord[];
  readonly updated: UserRecord[];
  /** Nothing but the e-mail key, which an earlier version did not write. */
  readonly refolded: UserRecord[];
}

async function writeUsers(queries: Queries, { created, updated, refolded }: ChangedUsers): Promise<void> {
  await setEmailKeys(queries, refolded);
  if (updated.length > 0) await updateUsers(queries, updated);
  const inserted = created.length > 0 ? await insertUsers(queries, created) : 0;
  if (inserted < created.length)
    throw conflict('Another import brought some of these users. Send the batch again.');
}
