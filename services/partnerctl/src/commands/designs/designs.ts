// The noun `designs`: course designs brought in over the feed, and their summaries recounted.
import { FeedService, SummaryDifferenceSchema } from '@course-exchange/proto/feed/v1';
import { importDesigns, rehearseImport } from '../../designs/import-designs.ts';
import { verifyDesigns } from '../../designs/verify-designs.ts';
import { command, type Noun } from '../../frame/command.ts';
import { file as fileOption, toggle } from '../../frame/options.ts';
import { plain } from '../../output/plain.ts';
import { progress } from '../../output/progress.ts';
import { importContent } from '../files.ts';
import { rejectedFileOf, tellRejected } from '../rejected-file.ts';
import { importAnswer, verifyText } from './answers.ts';

const designsImport = command({
  name: 'import',
  about: 'Import design changes from NDJSON',
  details:
    'A line is one upsert or delete with a revision (docs/feed.md). Interrupted at any point and repeated, it goes on where it was committed; repeated when done, it changes nothing. Rejected lines go to a file with number and reason, those of standard input to standard error; then the exit code is 1. --dry-run checks the lines without the service.',
  operands: { file: { term: '<file>', about: 'NDJSON, one change a line; - reads standard input' } },
  options: {
    rejected: fileOption('Where rejected lines are written; otherwise <file>.rejected'),
    stopAtRejected: toggle('Import what stands before the first rejected line, and no more'),
    fromStart: toggle('Send every line, also those that an interrupted import has committed'),
  },
  writes: true,
  service: 'catalog',
  examples: [
    { does: 'Are all lines right?', line: 'partnerctl designs import designs.ndjson --dry-run' },
    {
      does: 'Import; repeat the same line after an interruption',
      line: 'partnerctl designs import designs.ndjson',
    },
  ],
  run: async (call, { file: name }, { rejected, stopAtRejected, fromStart }) => {
    const rejectedFile = rejectedFileOf(call, name, rejected);
    const file = await importContent(name, call);
    const rejectedTo = rejectedFile ?? tellRejected(call);
    const options = { file, rejectedTo, stopAtRejected, fromStart };
    const shown = progress('Designs', call.terminal, call.now);
    const parts = { progress: shown, sleep: call.sleep, signal: call.signal };
    if (call.dryRun) return importAnswer(await rehearseImport(options, parts), undefined, true);
    const report = await importDesigns(call.services.catalog(FeedService), options, parts);
    return importAnswer(report, rejectedFile, false);
  },
});

const designsVerify = command({
  name: 'verify',
  about: 'Count every Event anew and compare it with its summary',
  details:
    'Runs beside reads and writes. Exit code 1 when a summary differs and was not repaired. Without --repair, or with --dry-run, it shows what --repair would mend.',
  operands: {},
  options: { repair: toggle('Mend the summaries that differ; plain `verify` is its dry run') },
  writes: true,
  service: 'catalog',
  examples: [
    { does: 'Are the summaries right?', line: 'partnerctl designs verify' },
    { does: 'Mend them', line: 'partnerctl designs verify --repair' },
  ],
  run: async (call, _, options) => {
    const { terminal, signal } = call;
    const repair = options.repair && !call.dryRun;
    const counted = (owners: number, events: number): void => {
      if (terminal.watchedErr) terminal.err(`\r\u001b[K${owners} owners, ${events} events`);
    };
    const report = await verifyDesigns(call.services.catalog(FeedService), { repair, counted, signal });
    if (terminal.watchedErr) terminal.err('\r\u001b[K');
    const { owners, events, differences } = report;
    const wrong = differences.filter(({ repaired }) => !repaired);
    return {
      json: { owners, events, differences: differences.map((one) => plain(SummaryDifferenceSchema, one)) },
      text: verifyText(report, terminal.paint),
      exit: wrong.length > 0 ? 'refused' : 'done',
    };
  },
});

export const designsNoun: Noun = {
  name: 'designs',
  about: 'Course designs: import, recount',
  examples: [
    { does: 'Bring designs in', line: 'partnerctl designs import designs.ndjson' },
    { does: 'Are the summaries right?', line: 'partnerctl designs verify' },
  ],
  commands: [designsImport, designsVerify],
};
