// `user import`: users with their password hashes. An interrupted import starts over: users already imported are
// `unchanged`.
import { hash } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import type { Client } from '@connectrpc/connect';
import { ImportUsersResponseSchema, UserService } from '@course-exchange/proto/operator/v1/user';
import { emailKey } from '@course-exchange/rules/email';
import * as z from 'zod';
import { newCommand, withAction } from '../cli/command.ts';
import { importContent } from '../files/named-files.ts';
import { type Content, filled, identifyFile, lineBlocks, readLine } from '../files/ndjson.ts';
import {
  importResult,
  openRejectedLines,
  type RejectedLine,
  rejectedPath,
  reportRejected,
} from '../files/rejected-lines.ts';
import { openProgress } from '../output/table.ts';

export function importCommand() {
  const command = newCommand('import', {
    about: 'Import users with their password hashes from NDJSON',
    details:
      'A line is {"sub","email","emailVerified","name","passwordHash"}, the hash in PHC form: argon2id, bcrypt, scrypt or pbkdf2. A replaced password signs its user out everywhere. An interrupted import can be repeated. Rejected lines, with number and reason, go to a file, or to standard error if the input is standard input; then the exit code is 1.',
    examples: {
      'What would be rejected?': 'partnerctl user import users.ndjson --dry-run',
      'Import; repeat the command after an interruption': 'partnerctl user import users.ndjson',
    },
    takes: ['--dry-run'],
  })
    .argument('<file>', 'NDJSON, one user a line; - reads standard input, at most 64 MiB')
    .option('--rejected <file>', 'Where rejected lines are listed; <file>.rejected by default')
    .option('--keep-sessions', 'Keep users signed in whose password is replaced');
  return withAction(command, async (context, name, options) => {
    const { dryRun, services, signal } = context;
    const path = rejectedPath(context, name, options.rejected);
    const file = await importContent(context, name);
    const { lines } = await identifyFile(file);
    const rejected = openRejectedLines(dryRun ? undefined : (path ?? reportRejected(context)));
    const counts = { created: 0, updated: 0, unchanged: 0, signedOut: 0 };
    const progress = openProgress('Users', context);
    const task = { file, dryRun, keepSessions: options.keepSessions === true, signal };
    try {
      for await (const batch of importUsers(services.identity(UserService), task)) {
        // Number and reason only: the line holds a password hash.
        for (const { line, reason } of batch.rejected) rejected.add(line, reason);
        for (const name of Object.keys(counts) as (keyof Counts)[]) counts[name] += batch[name];
        progress.update(batch.through, lines);
      }
    } finally {
      progress.clear();
      rejected.close();
    }
    const all = { ...counts, rejected: rejected.count() };
    const rejectedFile = dryRun || all.rejected === 0 ? undefined : path;
    const report = { dryRun, lines, resumedAfter: 0, ...all, rejectedFile };
    return importResult(report, countsText(all, dryRun), rejected.first());
  });
}

type Counts = Readonly<Record<'created' | 'updated' | 'unchanged' | 'signedOut', number>>;

interface Batch extends Counts {
  readonly through: number;
  readonly rejected: readonly RejectedLine[];
}

function countsText(counts: Counts & { readonly rejected: number }, dryRun: boolean): string {
  const { created, updated, unchanged, signedOut, rejected } = counts;
  if (dryRun)
    return `Dry run: would create ${created}, update ${updated} (${signedOut} signed out), leave ${unchanged} unchanged, reject ${rejected}.\n`;
  const signOuts = signedOut > 0 ? `Signed out because their password was replaced: ${signedOut}.\n` : '';
  return `${created} created, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected.\n${signOuts}`;
}

interface ImportTask {
  readonly file: Content;
  readonly dryRun: boolean;
  readonly keepSessions: boolean;
  readonly signal: AbortSignal;
}

const batchSize = 1000;

/** Repeating a batch changes nothing. */
export async function* importUsers(
  users: Client<typeof UserService>,
  task: ImportTask,
): AsyncGenerator<Batch> {
  let batch: ReadUser[] = [];
  for await (const read of readUsers(task)) {
    batch.push(read);
    if (batch.length < batchSize) continue;
    yield await send(users, batch, task);
    batch = [];
  }
  if (batch.length > 0) yield await send(users, batch, task);
}

interface ReadUser {
  readonly line: number;
  readonly user?: UserRecord;
  readonly reason?: string;
}

async function* readUsers({ file }: ImportTask): AsyncGenerator<ReadUser> {
  const earlierLine = openSeenUsers();
  for await (const { first, lines } of lineBlocks(file)) {
    for (const [at, content] of lines.entries()) {
      if (content?.trim() === '') continue;
      const line = first + at;
      const read = readUserLine(content, line);
      const earlier = read.user && earlierLine(read.user, line);
      yield { line, ...(earlier === undefined ? read : { reason: `Line ${earlier} names the same user.` }) };
    }
  }
}

async function send(
  service: Client<typeof UserService>,
  batch: readonly ReadUser[],
  { dryRun, keepSessions, signal }: ImportTask,
): Promise<Batch> {
  const users = batch.flatMap(({ user }) => user ?? []);
  const invalid = batch.flatMap(({ line, reason }) => (reason === undefined ? [] : [{ line, reason }]));
  const request = { users, dryRun, keepSessions };
  const response =
    users.length === 0
      ? create(ImportUsersResponseSchema)
      : await service.importUsers(request, { signal, timeoutMs: 60_000 });
  const { created, updated, unchanged, signedOut } = response;
  const refused = response.rejected.map(({ line, reason }) => ({ line: Number(line), reason }));
  const rejected = [...invalid, ...refused].sort((one, other) => one.line - other.line);
  return { through: batch.at(-1)?.line ?? 0, created, updated, unchanged, signedOut, rejected };
}

const shape = {
  sub: filled,
  email: filled,
  name: filled,
  passwordHash: filled,
  emailVerified: z
    .boolean({ error: 'is neither true, false nor null.' })
    .nullish()
    .transform((value) => value === true),
};
const userLine = z.strictObject(shape, {
  error: ({ code }) =>
    code === 'unrecognized_keys'
      ? `A field is unknown; known are ${Object.keys(shape).join(', ')}.`
      : undefined,
});

type UserRecord = z.output<typeof userLine> & { readonly line: bigint };

/** The line holds a password hash: a reason does not even quote an unknown field. */
export function readUserLine(
  content: string | undefined,
  line: number,
): { readonly user?: UserRecord; readonly reason?: string } {
  const read = readLine(userLine, content);
  if (read.reason !== undefined) return { reason: read.reason };
  return { user: { ...read.value, line: BigInt(line) } };
}

/** The earlier line that names the same user. Keeps 16 bytes of a hash per name: a file has millions. */
function openSeenUsers() {
  const lines = new Map<string, number>();
  return ({ sub, email }: UserRecord, line: number): number | undefined => {
    const named = [...(sub ? [`sub ${sub}`] : []), ...(email ? [`email ${emailKey(email)}`] : [])];
    const names = named.map((name) => hash('sha256', name, 'buffer').toString('latin1', 0, 16));
    // Whether the address of a user with a sub is another's, identity decides.
    const known = lines.get(names[0] ?? '');
    if (known === undefined) for (const name of names) lines.set(name, line);
    return known;
  };
}
