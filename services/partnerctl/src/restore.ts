// `restore`: run after a store was restored from a backup (docs/recovery.md).
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Option } from '@commander-js/extra-typings';
import {
  type Continuation,
  type FenceRequestSchema,
  type FenceResponse,
  RestoredStore,
  RestoreService,
} from '@course-exchange/proto/operator/v1/restore';
import * as z from 'zod';
import { newCommand, newGroup, withAction } from './cli/command.ts';
import { importContent } from './files/named-files.ts';
import { type Content, lineBlocks, readLine, requireNdjson } from './files/ndjson.ts';
import { usageError } from './output/errors.ts';
import { changeResult } from './output/result.ts';
import { localTime } from './output/table.ts';
import { sanitize } from './output/terminal.ts';

export function restoreCommand() {
  return newGroup('restore', 'After a restore from a backup', [fenceCommand()]);
}

/** Only part of a log would not continue the restored audit log. */
const lessenLog = `Keep its lines with operator.change alone (grep '"operator.change"')`;

/** 5 s for 100,000 users, in proportion to their number. */
const timeoutMs = 600_000;

const stores = { redis: RestoredStore.REDIS, postgres: RestoredStore.POSTGRES } as const;

function fenceCommand() {
  const command = newCommand('fence', {
    about: 'End all sessions, codes and tokens from before a restore, so that nothing revoked comes back',
    details:
      'All users log in again. After a restore of Postgres they also consent again, new keys sign, and what was retired, suspended, disabled or deactivated after the backup is so again, by the file of `audit list --append` or the log lines of identity. Without them all secrets are suspended: resume the good ones with `client secret resume`.',
    examples: {
      'Redis came from a backup, Postgres is as it was': 'partnerctl restore fence --restored redis',
      'Postgres came from a backup': 'partnerctl restore fence --restored postgres --audit-log audit.ndjson',
      'What it would do': 'partnerctl restore fence --restored postgres --accept-unknown --dry-run',
    },
    takes: ['--dry-run', '--yes'],
  })
    .addOption(
      new Option('--restored <store>', 'What came from a backup')
        .choices(['redis', 'postgres'] as const)
        .makeOptionMandatory(),
    )
    .option(
      '--audit-log <file>',
      'The file of `audit list --append`, or log lines of identity from the backup on: JSON; its other lines are skipped; - reads standard input, at most 64 MiB',
    )
    .addOption(
      new Option(
        '--accept-unknown',
        'Without a log: suspend and retire nothing, list what may be wrong',
      ).conflicts('auditLog'),
    );
  return withAction(command, async (context, { restored, auditLog, acceptUnknown: accepts }) => {
    const acceptUnknown = accepts === true;
    if (restored === 'redis' && (auditLog !== undefined || acceptUnknown))
      throw usageError('Nothing is unknown after a restore of Redis alone.', 'Leave the other options out.');
    const log = auditLog === undefined ? undefined : await importContent(context, auditLog, lessenLog);
    if (log !== undefined) await requireTrail(log, auditLog ?? '');
    await context.confirm('Every user will have to log in again.');
    const { dryRun, services, signal } = context;
    const request = { restored: stores[restored], acceptUnknown, dryRun };
    const requests = fenceRequests(request, log);
    const response = await services.identity(RestoreService).fence(requests, { signal, timeoutMs });
    return changeResult(context, response, trailText(response) + unknownText(response, acceptUnknown));
  });
}

const chained = { sequence: z.int().positive(), hash: z.hex().length(64), previous: z.hex().length(64) };
const logLine = z
  .object({
    ...chained,
    service: z.literal('identity'),
    event: z.literal('operator.change'),
    time: z.iso.datetime(),
    endings: z.string().default(''),
  })
  .transform(({ time, endings, ...line }) => ({ ...transactionOf(line, time), endings: endingsIn(endings) }));
const value = z.unknown().transform((one) => JSON.stringify(one ?? undefined));
/** As `audit list --append` writes it: with all that the hash covers. */
const archivedLine = z
  .object({
    ...chained,
    at: z.iso.datetime({ precision: 3 }),
    actor: z.string().min(1),
    clientId: z.string(),
    requestId: z.string(),
    change: z.object({
      action: z.string(),
      object: z.string(),
      fields: z.array(z.object({ field: z.string(), before: value, after: value })),
    }),
  })
  .transform(({ at, ...line }) => transactionOf(line, at));
const auditLine = z.union([logLine, archivedLine]);

function transactionOf<Line extends { readonly sequence: number }>(
  { sequence, ...line }: Line,
  time: string,
) {
  return { ...line, sequence: BigInt(sequence), at: timestampFromMs(Date.parse(time)) };
}

function endingsIn(text: string) {
  return text.split(', ').flatMap((ending) => {
    const [action = '', object] = ending.split(' ');
    return object === undefined ? [] : [{ action, object }];
  });
}

/** One block of the file at a time; other lines of a log are skipped. Throws a CliError for a part of an entry. */
async function* readTrail(log: Content) {
  for await (const { first, lines } of lineBlocks(log))
    yield lines.flatMap((line, at) => {
      const read = line?.includes('"previous"') ? readLine(auditLine, line) : undefined;
      if (read && read.reason === undefined) return [read.value];
      if (!mayBePartOfEntry(line)) return [];
      throw usageError(
        `Line ${first + at} is not an entry as \`audit list --append\` writes it.`,
        'Take it from another copy; delete it only if it never was an entry.',
      );
    });
}

/** Not UTF-8, half an object, or an object with a key of the chain. */
function mayBePartOfEntry(line: string | undefined): boolean {
  if (line === undefined || /"(sequence|hash|previous)"/.test(line)) return true;
  return line.trimStart().startsWith('{') && readLine(z.unknown(), line).reason !== undefined;
}

/** Reads all of it, before anything is attempted. */
async function requireTrail(log: Content, name: string): Promise<void> {
  await requireNdjson(log, true);
  let entries = 0;
  for await (const { length } of readTrail(log)) entries += length;
  if (entries > 0) return;
  throw usageError(
    `${name} has no entry of the audit log.`,
    'Give the file of `audit list --append`, or the JSON log of identity.',
  );
}

/** A block of lines is smaller than the largest message. */
async function* fenceRequests(
  request: MessageInitShape<typeof FenceRequestSchema>,
  log: Content | undefined,
) {
  yield request;
  if (log === undefined) return;
  for await (const transactions of readTrail(log)) if (transactions.length > 0) yield { transactions };
}

function trailText({ continuation, unknownUsers }: FenceResponse): string {
  if (continuation === undefined) return '';
  const { restoredSequence, namedSequence, firstSequence, lastSequence, lastAt } = continuation;
  const brought = lastAt
    ? `it lacks entries ${firstSequence} to ${lastSequence} of the lines, the last of ${localTime(lastAt)}`
    : 'it lacks none of the lines';
  const isOlder = `The lines name it up to entry ${namedSequence}: the rest was written since, or they are of an earlier restore.\n`;
  const hashes = unknownUsers.map((hash) => `  ${sanitize(hash)}\n`);
  const users = `Disabled users that this database lacks (\`user show --hash\` finds them if an import keeps their sub):\n`;
  return `The restored audit log ends with entry ${restoredSequence}; ${brought}.
${proofText(continuation)}${namedSequence < restoredSequence ? isOlder : ''}What identity wrote after that is not known: compare with the last value of course_exchange.audit.sequence.
${hashes.length > 0 ? users + hashes.join('') : ''}`;
}

/** Nothing if identity is of the previous version, which proves nothing. */
function proofText({ provenEntries, unprovenLines, unprovenSequences }: Continuation): string {
  if (provenEntries + unprovenLines === 0n) return '';
  const proven = `Of these lines, ${provenEntries} have the hash of their content`;
  if (unprovenLines === 0n) return `${proven}: all of them.\n`;
  const more = unprovenLines > unprovenSequences.length ? ', …' : '';
  return `${proven}. Unproven, known from log lines alone: ${unprovenLines} (${unprovenSequences.join(', ')}${more}).\n`;
}

function unknownText({ unknownSecrets }: FenceResponse, accepted: boolean): string {
  if (unknownSecrets.length === 0) return '';
  const head = accepted
    ? 'These secrets may have been retired after the backup:'
    : 'These secrets are suspended; resume those that are good:';
  const rows = unknownSecrets.map(
    ({ clientId, secretId }) => `  ${sanitize(clientId)} ${sanitize(secretId)}\n`,
  );
  return `${head}\n${rows.join('')}`;
}
