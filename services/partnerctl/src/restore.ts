// `restore`: what follows the restore of a store from a backup, so that nothing that had ended becomes valid again
// (docs/recovery.md).
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Option } from '@commander-js/extra-typings';
import {
  type FenceRequestSchema,
  type FenceResponse,
  RestoredStore,
  RestoreService,
} from '@course-exchange/proto/operator/v1/restore';
import * as z from 'zod';
import { newCommand, newGroup, withAction } from './cli/command.ts';
import { usageError } from './cli/errors.ts';
import { sanitize } from './cli/terminal.ts';
import { importContent } from './files/files.ts';
import { type Content, lineBlocks, readLine } from './files/ndjson.ts';
import { changeResult } from './output/result.ts';

export function restoreCommand() {
  return newGroup('restore', 'After a restore from a backup', [fenceCommand()]);
}

/** The lines of a part would not follow the restored audit log. */
const lessenLog = `Keep its lines with operator.change alone (grep '"operator.change"')`;

/** 5 s for 100,000 users, in proportion to their number. */
const timeoutMs = 600_000;

const stores = { redis: RestoredStore.REDIS, postgres: RestoredStore.POSTGRES } as const;

function fenceCommand() {
  const command = newCommand('fence', {
    about: 'End everything from before the restore, so that nothing that had ended comes to life',
    details:
      'All users log in again. After a restore of Postgres (with or without Redis) they also consent again, new keys sign, and what was retired, suspended, disabled or deactivated after the backup is so again, by the log lines of identity since then. Without these lines all secrets are suspended: `client secret resume` opens those that are good.',
    examples: {
      'Redis came from a backup, Postgres is as it was': 'partnerctl restore fence --restored redis',
      'Postgres came from a backup': 'partnerctl restore fence --restored postgres --audit-log identity.log',
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
      'Log lines of identity from the backup on: JSON, other lines are passed over; - reads standard input, at most 64 MiB',
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
      throw usageError('After a restore of Redis alone nothing is unknown.', 'Leave the other options out.');
    const log = auditLog === undefined ? undefined : await importContent(context, auditLog, lessenLog);
    if (log !== undefined) await requireTrail(log, auditLog ?? '');
    await context.confirm('Every user will have to log in again.');
    const { dryRun, services, signal } = context;
    const request = { restored: stores[restored], acceptUnknown, dryRun };
    const requests = fenceRequests(request, log);
    const response = await services.identity(RestoreService).fence(requests, { signal, timeoutMs });
    return changeResult(context, response, unknownText(response, acceptUnknown));
  });
}

const auditLine = z.object({
  service: z.literal('identity'),
  event: z.literal('operator.change'),
  time: z.iso.datetime(),
  sequence: z.int().positive(),
  hash: z.hex().length(64),
  previous: z.hex().length(64),
  endings: z.string().optional(),
});

/** The lines `operator.change` of identity, a block of the log at a time; others are passed over. */
async function* readTrail(log: Content) {
  for await (const { lines } of lineBlocks(log))
    yield lines.flatMap((line) => {
      const read = line?.includes('"operator.change"') ? readLine(auditLine, line) : undefined;
      return read === undefined || read.reason !== undefined ? [] : [transactionOf(read.value)];
    });
}

function transactionOf({ sequence, time, endings = '', hash, previous }: z.output<typeof auditLine>) {
  return {
    sequence: BigInt(sequence),
    hash,
    previous,
    at: timestampFromMs(Date.parse(time)),
    endings: endings.split(', ').flatMap((ending) => {
      const [action = '', object] = ending.split(' ');
      return object === undefined ? [] : [{ action, object }];
    }),
  };
}

async function requireTrail(log: Content, name: string): Promise<void> {
  for await (const { length } of readTrail(log)) if (length > 0) return;
  throw usageError(`${name} has no line of identity with the event operator.change.`, 'Give its JSON log.');
}

/** A block of lines is smaller than a message may be. */
async function* fenceRequests(
  request: MessageInitShape<typeof FenceRequestSchema>,
  log: Content | undefined,
) {
  yield request;
  if (log === undefined) return;
  for await (const transactions of readTrail(log)) if (transactions.length > 0) yield { transactions };
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
