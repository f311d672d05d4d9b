// One batch of users, in one transaction. Sent again it changes nothing, so an import goes on after an
// interruption with the batch that was not answered.

import type { Queries } from '@course-exchange/runtime/postgres';
import { foldEmail } from '../../domain/email.ts';
import {
  insertUsers,
  type KnownUser,
  lockKnownUsers,
  type UserRecord,
  updateUsers,
} from '../../store/postgres/imported-users.ts';
import { carryOut, conflict, type Desk, type Note, type Order, requireNoMistake } from '../desk.ts';
import { type ImportRecord, judgeRecord, type KnownUsers, recordMistake } from './import-record.ts';

export interface ImportOutcome {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly rejected: readonly { readonly line: number; readonly reason: string }[];
}

const largestBatch = 1_000;

/** Throws `invalid_argument` (too many), and `conflict` when another import brought the same users. Atomic. */
export async function importUsers(
  desk: Desk,
  order: Order,
  records: readonly ImportRecord[],
): Promise<ImportOutcome> {
  requireNoMistake(records.length > largestBatch ? [`A batch has at most ${largestBatch} records.`] : []);
  const { rejected, accepted } = sift(records);
  const { result } = await carryOut(desk, order, async (queries, note) => {
    const done = await importAccepted(desk, queries, note, accepted);
    return { ...done, rejected: [...rejected, ...done.rejected].sort((a, b) => a.line - b.line) };
  });
  return result;
}

/** Records with a mistake of their own, and those that name a user whom an earlier one in the batch names. */
function sift(records: readonly ImportRecord[]) {
  const rejected: { line: number; reason: string }[] = [];
  const accepted: ImportRecord[] = [];
  const named = new Set<string>();
  for (const record of records) {
    const names = [`@${foldEmail(record.email)}`, ...(record.sub === '' ? [] : [record.sub])];
    const reason =
      recordMistake(record) ??
      (names.some((name) => named.has(name))
        ? 'An earlier record of the batch names the same user.'
        : undefined);
    if (reason === undefined) {
      accepted.push(record);
      for (const name of names) named.add(name);
    } else rejected.push({ line: record.line, reason });
  }
  return { rejected, accepted };
}

async function importAccepted(
  desk: Desk,
  queries: Queries,
  note: Note,
  records: readonly ImportRecord[],
): Promise<ImportOutcome> {
  const known = indexed(
    await lockKnownUsers(
      queries,
      records.flatMap(({ sub }) => (sub === '' ? [] : [sub])),
      records.map(({ email }) => email),
    ),
  );
  const [created, updated]: [UserRecord[], UserRecord[]] = [[], []];
  const rejected: { line: number; reason: string }[] = [];
  for (const record of records) {
    const verdict = judgeRecord(desk, record, known);
    if (verdict.kind === 'rejected') rejected.push({ line: record.line, reason: verdict.reason });
    if (verdict.kind === 'rejected' || verdict.kind === 'unchanged') continue;
    (verdict.kind === 'created' ? created : updated).push(verdict.user);
    note(verdict.change);
  }
  if (updated.length > 0) await updateUsers(queries, updated);
  const inserted = created.length > 0 ? await insertUsers(queries, created) : 0;
  if (inserted < created.length)
    throw conflict('Another import brought some of these users. Send the batch again.');
  const unchanged = records.length - created.length - updated.length - rejected.length;
  return { created: created.length, updated: updated.length, unchanged, rejected };
}

function indexed(users: readonly KnownUser[]): KnownUsers {
  return {
    bySub: new Map(users.map((user) => [user.sub, user])),
    byEmail: new Map(users.map((user) => [foldEmail(user.email), user])),
  };
}
