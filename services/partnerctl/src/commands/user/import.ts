// `user import`: users with their password hashes from another system.
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { ClientService } from '@course-exchange/proto/operator/v1/client';
import { UserService } from '@course-exchange/proto/operator/v1/user';
import { type Content, identifyFile } from '../../designs/line-blocks.ts';
import type { Call } from '../../frame/call.ts';
import { type Answer, command } from '../../frame/command.ts';
import { file as fileOption } from '../../frame/options.ts';
import { progress } from '../../output/progress.ts';
import { importContent } from '../files.ts';
import { rejectedFileOf, tellRejected } from '../rejected-file.ts';
import { type Batch, type ImportJournal, openImportJournal, type Rejection } from './import-journal.ts';
import { importUsers } from './import-users.ts';

export const userImport = command({
  name: 'import',
  about: 'Import users with their password hashes from NDJSON',
  details:
    'A line is {"sub","email","emailVerified","name","passwordHash"}; the hash in PHC form: argon2id, bcrypt, scrypt, pbkdf2. It becomes ours at the next login. Interrupted at any point and repeated, it goes on where it was; repeated when done, it changes nothing. Rejected lines, among them a user whom an earlier line names, go to a file with number and reason, those of standard input to standard error; then the exit code is 1.',
  operands: { file: { term: '<file>', about: 'NDJSON, one user a line; - reads standard input' } },
  options: { rejected: fileOption('Where rejected lines are told; otherwise <file>.rejected') },
  writes: true,
  examples: [
    { does: 'What would be rejected?', line: 'partnerctl user import users.ndjson --dry-run' },
    {
      does: 'Import; repeat the same line after an interruption',
      line: 'partnerctl user import users.ndjson',
    },
  ],
  run: async (call, { file: name }, options) => {
    const rejectedFile = rejectedFileOf(call, name, options.rejected);
    const file = await importContent(name, call);
    const { digest, lines } = await identifyFile(file);
    const { issuer } = await call.services.identity(ClientService).describeInstallation({});
    // Standard input has no place beside it: the import begins anew, which changes nothing twice.
    const resumable = typeof file === 'string' && !call.dryRun;
    const journal = resumable ? openImportJournal(`${file}.import`, `${issuer} ${digest}`) : undefined;
    const batches = [...(journal?.done ?? [])];
    const resumedAfter = batches.at(-1)?.through ?? 0;
    try {
      await work(call, file, lines, batches, journal);
    } finally {
      journal?.close();
    }
    const rejected = batches.flatMap((batch) => batch.rejected);
    if (!call.dryRun) tellOrWrite(call, rejectedFile, rejected);
    journal?.remove();
    return answerOf(call, { lines, resumedAfter, rejectedFile }, batches, rejected);
  },
});

async function work(
  call: Call,
  file: Content,
  lines: number,
  batches: Batch[],
  journal: ImportJournal | undefined,
): Promise<void> {
  const shown = progress('Users', call.terminal, call.now);
  const answered = (batch: Batch): void => {
    journal?.add(batch);
    batches.push(batch);
    shown.at(batch.through, lines);
  };
  const after = batches.at(-1)?.through ?? 0;
  const { dryRun, signal } = call;
  try {
    await importUsers(call.services.identity(UserService), { file, dryRun, after, answered, signal });
  } finally {
    shown.end();
  }
}

function tellOrWrite(call: Call, path: string | undefined, rejected: readonly Rejection[]): void {
  if (path === undefined) rejected.forEach(tellRejected(call));
  else writeRejected(path, rejected);
}

/** Says number and reason only: the line itself holds a password hash. */
function writeRejected(path: string, rejected: readonly Rejection[]): void {
  if (rejected.length === 0) {
    rmSync(path, { force: true });
    return;
  }
  writeFileSync(path, rejected.map((one) => `${JSON.stringify(one)}\n`).join(''), { mode: 0o600 });
  chmodSync(path, 0o600);
}

interface Work {
  readonly lines: number;
  readonly resumedAfter: number;
  readonly rejectedFile: string | undefined;
}

const shownRejections = 10;

function answerOf(call: Call, work: Work, batches: readonly Batch[], rejected: readonly Rejection[]): Answer {
  const sum = (name: 'created' | 'updated' | 'unchanged'): number =>
    batches.reduce((total, batch) => total + batch[name], 0);
  const counts = { created: sum('created'), updated: sum('updated'), unchanged: sum('unchanged') };
  const none = rejected.length === 0;
  const { lines, resumedAfter } = work;
  const rejectedFile = none || call.dryRun ? undefined : work.rejectedFile;
  const resumed = resumedAfter > 0 ? `Went on after line ${resumedAfter}.\n` : '';
  const list = rejected.slice(0, shownRejections).map(({ line, reason }) => `  line ${line}: ${reason}\n`);
  return {
    json: {
      dryRun: call.dryRun,
      lines,
      resumedAfter,
      ...counts,
      rejected: rejected.length,
      rejectedFile: rejectedFile ?? null,
    },
    text: `${resumed}${call.dryRun ? 'Would be: ' : ''}${counts.created} created, ${counts.updated} updated, ${counts.unchanged} unchanged, ${rejected.length} rejected.\n${list.join('')}${rejectedFile === undefined ? '' : `All rejected lines are in ${rejectedFile}.\n`}`,
    ...(none ? {} : { exit: 'refused' }),
  };
}
