// `user import`: users with their password hashes, batch by batch. A journal beside the file remembers what the service
// has answered, so that an interrupted import resumes.
import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import type { Client } from '@connectrpc/connect';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { type CommandContext, newCommand, type Result, withAction } from '../cli/command.ts';
import { importContent } from '../files/files.ts';
import { type Content, identifyFile, lineBlocks } from '../files/ndjson.ts';
import {
  importResult,
  openRejectedLines,
  type RejectedLine,
  type RejectedTarget,
  rejectedPath,
  reportRejected,
} from '../files/rejected-lines.ts';
import { openProgress } from '../output/table.ts';
import { openSeenUsers, readUserLine, type UserRecord } from './user-line.ts';

export function importCommand() {
  const command = newCommand('import', {
    about: 'Import users with their password hashes from NDJSON',
    details:
      'A line is {"sub","email","emailVerified","name","passwordHash"}, the hash in PHC form: argon2id, bcrypt, scrypt or pbkdf2. It is replaced by our own at the next login. A user whose password a line replaces is signed out everywhere. Interrupted at any point and repeated, the import resumes; repeated when complete, it changes nothing. Rejected lines, among them a user whom an earlier line names, are written with number and reason to a file, or to standard error if the input is standard input; then the exit code is 1.',
    examples: {
      'What would be rejected?': 'partnerctl user import users.ndjson --dry-run',
      'Import; repeat the command after an interruption': 'partnerctl user import users.ndjson',
    },
    takes: ['--dry-run'],
  })
    .argument('<file>', 'NDJSON, one user a line; - reads standard input, at most 64 MiB')
    .option('--rejected <file>', 'Where rejected lines are listed; <file>.rejected by default')
    .option('--keep-sessions', 'Leave users signed in whose password is replaced');
  return withAction(command, async (context, name, options) => {
    const { dryRun, services, signal } = context;
    const rejectedFile = rejectedPath(context, name, options.rejected);
    const file = await importContent(context, name);
    const { digest, lines } = await identifyFile(file);
    const { issuer } = await services.identity(ClientService).describeInstallation({});
    // Standard input cannot have a journal: its import starts again, which changes nothing twice.
    const canResume = typeof file === 'string' && !dryRun;
    const journal = canResume ? openImportJournal(`${file}.import`, `${issuer} ${digest}`) : undefined;
    const batches = [...(journal?.done ?? [])];
    const resumedAfter = batches.at(-1)?.through ?? 0;
    const progress = openProgress('Users', context);
    const keepSessions = options.keepSessions === true;
    const task = { file, dryRun, keepSessions, after: resumedAfter, signal };
    try {
      for await (const batch of importUsers(services.identity(UserService), task)) {
        journal?.add(batch);
        batches.push(batch);
        progress.update(batch.through, lines);
      }
    } finally {
      progress.clear();
      journal?.close();
    }
    const result = usersResult(context, batches, { lines, resumedAfter, rejectedFile });
    journal?.remove();
    return result;
  });
}

interface ImportedFile {
  readonly lines: number;
  readonly resumedAfter: number;
  /** For rejected lines; undefined: they go to standard error. */
  readonly rejectedFile: string | undefined;
}

/** Writes the rejected lines unless it is a dry run. */
function usersResult(context: CommandContext, batches: readonly Batch[], file: ImportedFile): Result {
  const { dryRun } = context;
  const { created, updated, unchanged, signedOut } = countsOf(batches);
  const rejected = batches.flatMap((batch) => batch.rejected);
  if (!dryRun) keepRejected(file.rejectedFile ?? reportRejected(context), rejected);
  const signOuts = signedOut > 0 ? `Signed out because their password was replaced: ${signedOut}.\n` : '';
  const text = `${created} created, ${updated} updated, ${unchanged} unchanged, ${rejected.length} rejected.\n${signOuts}`;
  const counts = { created, updated, unchanged, signedOut, rejected: rejected.length };
  const rejectedFile = dryRun || rejected.length === 0 ? undefined : file.rejectedFile;
  const report = { dryRun, ...file, ...counts, rejectedFile };
  return importResult(report, dryRun ? `Would be: ${text}` : text, rejected.slice(0, 10));
}

/** Number and reason only: the line itself holds a password hash. */
function keepRejected(target: RejectedTarget, rejected: readonly RejectedLine[]): void {
  const kept = openRejectedLines(target);
  for (const { line, reason } of rejected) kept.add(line, reason);
  kept.close();
}

function countsOf(batches: readonly Batch[]) {
  const sum = (name: 'created' | 'updated' | 'unchanged' | 'signedOut') =>
    batches.reduce((total, batch) => total + batch[name], 0);
  return {
    created: sum('created'),
    updated: sum('updated'),
    unchanged: sum('unchanged'),
    signedOut: sum('signedOut'),
  };
}

interface ImportTask {
  readonly file: Content;
  readonly dryRun: boolean;
  readonly keepSessions: boolean;
  /** Lines up to this one are done. */
  readonly after: number;
  readonly signal: AbortSignal;
}

/** The service takes as many in one transaction. */
const batchSize = 1000;

/** Sends every line after `after` except users whom an earlier line names. Repeating a batch changes nothing. */
export async function* importUsers(
  users: Client<typeof UserService>,
  task: ImportTask,
): AsyncGenerator<Batch> {
  for await (const batch of batchesOf(task)) yield await send(users, batch, task);
}

interface ReadBatch {
  readonly users: UserRecord[];
  readonly rejected: RejectedLine[];
  /** The last line read for it. */
  through: number;
}

async function* batchesOf({ file, after }: ImportTask): AsyncGenerator<ReadBatch> {
  const earlierLine = openSeenUsers();
  let batch: ReadBatch = { users: [], rejected: [], through: after };
  for await (const { first, lines } of lineBlocks(file)) {
    for (const [at, content] of lines.entries()) {
      const line = first + at;
      const read = readOnce(content, line, earlierLine);
      if (line <= after) continue;
      add(batch, line, read);
      if (sizeOf(batch) < batchSize) continue;
      yield batch;
      batch = { users: [], rejected: [], through: line };
    }
  }
  if (sizeOf(batch) > 0) yield batch;
}

function add(batch: ReadBatch, line: number, { user, reason }: ReturnType<typeof readOnce>): void {
  batch.through = line;
  if (user) batch.users.push(user);
  else if (reason) batch.rejected.push({ line, reason });
}

function sizeOf({ users, rejected }: ReadBatch): number {
  return users.length + rejected.length;
}

/** Neither a user nor a reason where the line is empty. */
function readOnce(
  content: string | undefined,
  line: number,
  earlierLine: ReturnType<typeof openSeenUsers>,
): { readonly user?: UserRecord; readonly reason?: string } {
  if (content?.trim() === '') return {};
  const read = readUserLine(content, line);
  const earlier = read.user && earlierLine(read.user, line);
  return earlier === undefined ? read : { reason: `Line ${earlier} names the same user.` };
}

async function send(
  users: Client<typeof UserService>,
  { users: batch, rejected, through }: ReadBatch,
  { dryRun, keepSessions, signal }: ImportTask,
): Promise<Batch> {
  if (batch.length === 0) return { through, created: 0, updated: 0, unchanged: 0, signedOut: 0, rejected };
  const request = { users: batch, dryRun, keepSessions };
  const response = await users.importUsers(request, { signal, timeoutMs: 60_000 });
  const { created, updated, unchanged, signedOut } = response;
  const refused = response.rejected.map(({ line, reason }) => ({ line: Number(line), reason }));
  const all = [...rejected, ...refused].sort((one, other) => one.line - other.line);
  return { through, created, updated, unchanged, signedOut, rejected: all };
}

interface Batch {
  /** The last line of the file that the batch has seen. */
  readonly through: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly signedOut: number;
  readonly rejected: readonly RejectedLine[];
}

/** `subject` names content and installation: a journal of another subject is replaced. */
export function openImportJournal(path: string, subject: string) {
  const kept = keptLines(path, subject);
  const file = openSync(path, kept === undefined ? 'w' : 'r+', 0o600);
  const head = `${JSON.stringify({ subject })}\n`;
  if (kept === undefined) writeSync(file, head);
  let end = Buffer.byteLength(kept?.text ?? head);
  ftruncateSync(file, end);
  return {
    /** Batches of the import that this one resumes. */
    done: kept?.batches ?? [],
    /** Durable when it returns. */
    add: (batch: Batch): void => {
      end += writeSync(file, `${JSON.stringify(batch)}\n`, end);
      fsyncSync(file);
    },
    close: (): void => closeSync(file),
    /** The import is complete. */
    remove: (): void => rmSync(path, { force: true }),
  };
}

/** Undefined when there is no journal of this subject. A line that a crash cut off is left out. */
function keptLines(path: string, subject: string) {
  const lines = contentOf(path).split('\n').slice(0, -1);
  const [head, ...batches] = lines;
  if (head !== JSON.stringify({ subject })) return undefined;
  return {
    text: lines.map((line) => `${line}\n`).join(''),
    batches: batches.map((line) => JSON.parse(line) as Batch),
  };
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
