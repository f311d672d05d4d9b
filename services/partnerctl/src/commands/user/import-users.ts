// Imports a file of users batch by batch; the journal remembers what the service has answered.
import type { Client } from '@connectrpc/connect';
import type { UserService } from '@course-exchange/proto/operator/v1/user';
import { type Content, lineBlocks } from '../../designs/line-blocks.ts';
import type { Batch, Rejection } from './import-journal.ts';
import { type NamedUsers, openNamedUsers } from './named-users.ts';
import { type ReadUser, readUserLine, type UserRecord } from './user-line.ts';

export interface UserImport {
  readonly file: Content;
  readonly dryRun: boolean;
  /** Lines up to this one are done. */
  readonly after: number;
  readonly answered: (batch: Batch) => void;
  readonly signal: AbortSignal;
}

/** The service takes as many in one transaction. */
const batchSize = 1000;

/** Sends every line after `after` but for users whom an earlier line names; throws what the service says. Repeating a batch changes nothing. */
export async function importUsers(users: Client<typeof UserService>, task: UserImport): Promise<void> {
  for await (const batch of batches(task)) task.answered(await sent(users, batch, task));
}

interface ReadBatch {
  readonly users: UserRecord[];
  readonly rejected: Rejection[];
  /** The last line read for it. */
  through: number;
}

async function* batches({ file, after }: UserImport): AsyncGenerator<ReadBatch> {
  const named = openNamedUsers();
  let batch: ReadBatch = { users: [], rejected: [], through: after };
  for await (const { first, lines } of lineBlocks(file)) {
    for (const [at, content] of lines.entries()) {
      const line = first + at;
      const read = readLine(content, line, named);
      if (line <= after) continue;
      take(batch, read, line);
      if (batch.users.length + batch.rejected.length < batchSize) continue;
      yield batch;
      batch = { users: [], rejected: [], through: batch.through };
    }
  }
  if (batch.users.length + batch.rejected.length > 0) yield batch;
}

/** `content` is undefined for a line that is no text; undefined is the answer to an empty line. */
function readLine(content: string | undefined, line: number, named: NamedUsers): ReadUser | undefined {
  if (content?.trim() === '') return undefined;
  const read = readUserLine(content, line);
  const earlier = read.user && named.earlier(read.user, line);
  return earlier === undefined ? read : { reason: `Line ${earlier} names the same user.` };
}

function take(batch: ReadBatch, read: ReadUser | undefined, line: number): void {
  batch.through = line;
  if (read?.user) batch.users.push(read.user);
  else if (read) batch.rejected.push({ line, reason: read.reason });
}

async function sent(
  users: Client<typeof UserService>,
  { users: batch, rejected, through }: ReadBatch,
  { dryRun, signal }: UserImport,
): Promise<Batch> {
  if (batch.length === 0) return { through, created: 0, updated: 0, unchanged: 0, rejected };
  const answer = await users.importUsers({ users: batch, dryRun }, { signal, timeoutMs: 60_000 });
  const { created, updated, unchanged } = answer;
  const refused = answer.rejected.map(({ line, reason }) => ({ line: Number(line), reason }));
  const all = [...rejected, ...refused].sort((one, other) => one.line - other.line);
  return { through, created, updated, unchanged, rejected: all };
}
