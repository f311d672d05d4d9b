// What the commands about designs answer.
import type { ImportReport } from '../../designs/import-designs.ts';
import type { VerifyReport } from '../../designs/verify-designs.ts';
import type { Answer } from '../../frame/command.ts';
import type { Paint } from '../../frame/terminal.ts';
import { type Column, table } from '../../output/tables.ts';

/** `rejectedFile` is undefined where none was written. */
export function importAnswer(
  report: ImportReport,
  rejectedFile: string | undefined,
  dryRun: boolean,
): Answer {
  const { lines, resumedAfter, upserted, deleted, ignored, rejected, rejectedLines, stopped } = report;
  const some = rejected > 0;
  const counts = `${upserted} upserted, ${deleted} deleted, ${ignored} known already, ${rejected} rejected.\n`;
  const text = [
    resumedAfter > 0 ? `Went on after line ${resumedAfter}.\n` : '',
    dryRun
      ? `${lines} lines: ${upserted} upserts, ${deleted} deletes, ${rejected} would be rejected.\n`
      : counts,
    ...rejectedLines.map(({ line, reason }) => `  line ${line}: ${reason}\n`),
    stopped ? 'Stopped at the first rejected line.\n' : '',
    some && rejectedFile !== undefined ? `All rejected lines are in ${rejectedFile}.\n` : '',
  ];
  return {
    json: {
      dryRun,
      lines,
      resumedAfter,
      upserted,
      deleted,
      ignored,
      rejected,
      stopped,
      rejectedFile: some ? (rejectedFile ?? null) : null,
    },
    text: text.join(''),
    ...(some ? { exit: 'refused' } : {}),
  };
}

type Difference = VerifyReport['differences'][number];

const columns: readonly Column<Difference>[] = [
  { heading: 'OWNER', show: ({ owner }) => owner },
  { heading: 'EVENT', show: ({ eventId }) => eventId },
  {
    heading: 'SUMMARY SAYS',
    show: ({ summarisedDesigns }) => String(summarisedDesigns ?? 'none'),
    right: true,
  },
  { heading: 'COUNTED', show: ({ countedDesigns }) => String(countedDesigns ?? 'none'), right: true },
  { heading: 'REPAIRED', show: ({ repaired }) => (repaired ? 'yes' : 'no') },
];

export function verifyText({ owners, events, differences }: VerifyReport, paint: Paint): string {
  const head = `${events} events of ${owners} owners counted, ${differences.length} differ.\n`;
  return differences.length === 0 ? head : `${head}\n${table(differences, columns, paint, '')}`;
}
