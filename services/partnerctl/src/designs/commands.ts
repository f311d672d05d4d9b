// designs/ is the commands about course designs: their import over the feed, their recount and their volume.

// `designs`: import over the feed, and the recount of event summaries.
import { FeedService, type SummaryDifference } from '@course-exchange/proto/feed/v1';
import { newCommand, newGroup, withAction } from '../cli/command.ts';
import { importContent } from '../files/named-files.ts';
import { importResult, rejectedPath, reportRejected } from '../files/rejected-lines.ts';
import type { Result } from '../output/result.ts';
import { type Columns, openProgress, table } from '../output/table.ts';
import { checkDesigns, type ImportReport, importDesigns } from './import.ts';
import { volumeCommand } from './volume.ts';

export function designsCommand() {
  return newGroup('designs', 'Course designs: import, verify, volume', [
    importCommand(),
    verifyCommand(),
    volumeCommand(),
  ]);
}

function importCommand() {
  const command = newCommand('import', {
    about: 'Import design changes from NDJSON',
    details:
      'A line is one upsert or delete with a revision (docs/feed.md). An interrupted import resumes when it is repeated. Rejected lines, with number and reason, go to a file, or to standard error if the input is standard input; then the exit code is 1. --dry-run checks the lines without the service.',
    examples: {
      'Are all lines valid?': 'partnerctl designs import designs.ndjson --dry-run',
      'Import; repeat the command after an interruption': 'partnerctl designs import designs.ndjson',
    },
    takes: ['--dry-run'],
  })
    .argument('<file>', 'NDJSON, one change a line; - reads standard input, at most 64 MiB')
    .option('--rejected <file>', 'Where rejected lines are written; <file>.rejected by default')
    .option('--from-start', 'Send every line, even those that an interrupted import has committed');
  return withAction(command, async (context, name, options) => {
    const path = rejectedPath(context, name, options.rejected);
    const job = {
      file: await importContent(context, name),
      rejectedTo: path ?? reportRejected(context),
      fromStart: options.fromStart === true,
    };
    const { sleep, signal, services } = context;
    const deps = { progress: openProgress('Designs', context), sleep, signal };
    if (context.dryRun) return designsResult(await checkDesigns(deps, job), undefined, true);
    const feed = services.catalog(FeedService);
    return designsResult(await importDesigns({ ...deps, feed }, job), path, false);
  });
}

function designsResult(report: ImportReport, path: string | undefined, dryRun: boolean): Result {
  const { rejectedLines, ...counts } = report;
  const { lines, upserted, deleted, ignored, rejected } = counts;
  const text = dryRun
    ? `Dry run: ${lines} lines with ${upserted} upserts and ${deleted} deletes; would reject ${rejected}.\n`
    : `${upserted} upserted, ${deleted} deleted, ${ignored} already known, ${rejected} rejected.\n`;
  const json = { dryRun, ...counts, rejectedFile: rejected > 0 ? path : undefined };
  return importResult(json, text, rejectedLines);
}

function verifyCommand() {
  const command = newCommand('verify', {
    about: 'Recount every Event and compare it with its summary',
    details:
      'Runs beside reads and writes. Exit code 1 when a summary differs and was not repaired. Without --repair, or with --dry-run, it shows what --repair would change.',
    examples: {
      'Are the summaries right?': 'partnerctl designs verify',
      'Repair them': 'partnerctl designs verify --repair',
    },
    takes: ['--dry-run'],
  }).option('--repair', 'Repair the summaries that differ');
  return withAction(command, async (context, { repair: asked }) => {
    const repair = asked === true && !context.dryRun;
    const differences: SummaryDifference[] = [];
    let owners = 0;
    let events = 0;
    const options = { signal: context.signal, timeoutMs: 0 };
    for await (const part of context.services.catalog(FeedService).verify({ repair }, options)) {
      owners += Number(part.owners);
      events += Number(part.events);
      differences.push(...part.differences);
    }
    const head = `${events} events of ${owners} owners counted, ${differences.length} differ.\n`;
    const list = table(differences, columns, '');
    return {
      json: { owners, events, differences },
      text: differences.length === 0 ? head : `${head}\n${list}`,
      exit: differences.some(({ repaired }) => !repaired) ? 'refused' : 'done',
    };
  });
}

const columns: Columns<SummaryDifference> = {
  OWNER: ({ owner }) => owner,
  EVENT: ({ eventId }) => eventId,
  'SUMMARY SAYS': ({ summarisedDesigns }) => summarisedDesigns ?? 'none',
  COUNTED: ({ countedDesigns }) => countedDesigns ?? 'none',
  REPAIRED: ({ repaired }) => (repaired ? 'yes' : 'no'),
};
