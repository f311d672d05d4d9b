// The answer of a command that changed one client.
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { Change } from '@course-exchange/proto/operator/v1/change';
import { type Client, ClientSchema } from '@course-exchange/proto/operator/v1/client';
import type { Call } from '../../frame/call.ts';
import type { Answer } from '../../frame/command.ts';
import { changesText, plainChanges } from '../../output/changes.ts';
import { plain } from '../../output/plain.ts';
import { localTime } from '../../output/times.ts';

export function clientAnswer(
  call: Call,
  { client, changes }: { readonly client?: Client | undefined; readonly changes: readonly Change[] },
  more = '',
): Answer {
  return {
    json: {
      dryRun: call.dryRun,
      client: client ? plain(ClientSchema, client) : null,
      changes: plainChanges(changes),
    },
    text: changesText(changes, call.dryRun, call.terminal.paint) + more,
  };
}

/** The truth about tokens that nobody can call back (specification §3). */
export function tokensEnd(time: Timestamp | undefined, call: Call): string {
  if (time === undefined || call.dryRun) return '';
  return `Access tokens from before live out their 15 minutes: the last one ends at ${localTime(timestampDate(time))}.\n`;
}
