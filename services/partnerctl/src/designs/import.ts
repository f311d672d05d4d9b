// Imports a file of design changes: sends valid lines, sets others aside, and resumes an interrupted import of the
// same content.
import { type Client, Code, ConnectError } from '@connectrpc/connect';
import type { FeedService } from '@course-exchange/proto/feed/v1';
import { type Content, type FileIdentity, identifyFile } from '../files/ndjson.ts';
import { openRejectedLines, type RejectedLines, type RejectedTarget } from '../files/rejected-lines.ts';
import type { Progress } from '../output/table.ts';
import { type ApplyMessage, applyMessages } from './design-lines.ts';

export interface ImportJob {
  readonly file: Content;
  readonly rejectedTo: RejectedTarget;
  readonly fromStart: boolean;
}

interface ImportDeps {
  readonly feed: Client<typeof FeedService>;
  readonly progress: Progress;
  readonly sleep: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
}

export type ImportReport = Awaited<ReturnType<typeof importOnce>>;

/** Milliseconds to wait for a service since it last committed something. */
const maxWaitMs = 60_000;
const retryMs = 1_000;

/** Repeating it is always safe. */
export async function importDesigns(deps: ImportDeps, job: ImportJob): Promise<ImportReport> {
  const identity = await identifyFile(job.file);
  const source = sourceOf(identity);
  let waitedMs = 0;
  let committed = -1;
  for (;;) {
    try {
      const restart = job.fromStart && committed === -1;
      const resumePoint = restart ? undefined : await deps.feed.getResumePoint({ source });
      const resumedAfter = Number(resumePoint?.position ?? 0);
      if (resumedAfter > committed) waitedMs = 0;
      committed = resumedAfter;
      return await importOnce(deps, job, identity, resumedAfter);
    } catch (error) {
      const giveUp = deps.signal.aborted || committed === -1 || waitedMs >= maxWaitMs;
      if (giveUp || !isInterruption(error)) throw error;
    } finally {
      deps.progress.clear();
    }
    waitedMs += retryMs;
    await deps.sleep(retryMs);
  }
}

export async function checkDesigns(
  deps: Pick<ImportDeps, 'progress'>,
  job: ImportJob,
): Promise<ImportReport> {
  const identity = await identifyFile(job.file);
  const rejected = openRejectedLines(undefined);
  const total = { upserted: 0, deleted: 0, ignored: 0 };
  for await (const { changes } of messagesOf(deps, job, identity, rejected, 0)) {
    const upserted = changes.filter(({ change }) => change?.case === 'upsert').length;
    total.upserted += upserted;
    total.deleted += changes.length - upserted;
  }
  deps.progress.clear();
  return { ...total, resumedAfter: 0, ...fileReport(identity, rejected) };
}

const connectionCodes: readonly Code[] = [
  Code.Unavailable,
  Code.Aborted,
  Code.Internal,
  Code.Unknown,
  Code.Canceled,
];

function isInterruption(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  const code = error.metadata.get('error-code');
  return code === null ? connectionCodes.includes(error.code) : code === 'temporarily_unavailable';
}

/** The content, not the name: a corrected file is another source. */
function sourceOf({ digest }: FileIdentity): string {
  return `file:${digest}`;
}

function messagesOf(
  { progress }: Pick<ImportDeps, 'progress'>,
  { file }: ImportJob,
  identity: FileIdentity,
  rejected: RejectedLines,
  resumedAfter: number,
) {
  const onRead = (line: number) => progress.update(line, identity.lines);
  return applyMessages(file, { source: sourceOf(identity), resumedAfter, rejected, onRead });
}

async function importOnce(deps: ImportDeps, job: ImportJob, identity: FileIdentity, resumedAfter: number) {
  // Read again, to report their rejected lines again.
  const rejected = openRejectedLines(job.rejectedTo);
  let readError: unknown;
  async function* watched(): AsyncGenerator<ApplyMessage> {
    try {
      yield* messagesOf(deps, job, identity, rejected, resumedAfter);
    } catch (error) {
      readError = error;
      throw error;
    }
  }
  try {
    const options = { signal: deps.signal, timeoutMs: 0 };
    const { upserted, deleted, ignored } = await deps.feed.apply(watched(), options);
    const counts = { upserted: Number(upserted), deleted: Number(deleted), ignored: Number(ignored) };
    return { ...fileReport(identity, rejected), resumedAfter, ...counts };
  } catch (error) {
    // The transport reports an unreadable file as a lost call.
    throw readError ?? error;
  } finally {
    rejected.close();
  }
}

function fileReport({ lines }: FileIdentity, rejected: RejectedLines) {
  return { lines, rejected: rejected.count(), rejectedLines: rejected.first() };
}
