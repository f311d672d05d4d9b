// Imports an NDJSON file of design changes (docs/feed.md): sends valid lines, sets others aside, and resumes an
// interrupted import of the same content.
import { type Client, Code, ConnectError } from '@connectrpc/connect';
import type { FeedService } from '@course-exchange/proto/feed/v1';
import { designChangeProblem, highestRevision } from '@course-exchange/rules/design-change';
import * as z from 'zod';
import { given } from '../cli/options.ts';
import { type Content, filled, identifyFile, lineBlocks, readLine, text } from '../files/ndjson.ts';
import { openRejectedLines, type RejectedLines, type RejectedTarget } from '../files/rejected-lines.ts';
import type { Progress } from '../output/table.ts';

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

type FileIdentity = Awaited<ReturnType<typeof identifyFile>>;
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

/** Some 150 KB, far below the 4 MiB that the service accepts. */
const maxChanges = 500;

/** The final message is marked as the source's last. Changes up to line `resumedAfter` are read but not sent. */
async function* messagesOf(
  { progress }: Pick<ImportDeps, 'progress'>,
  { file }: ImportJob,
  identity: FileIdentity,
  rejected: RejectedLines,
  resumedAfter: number,
) {
  const source = sourceOf(identity);
  for await (const { first, lines } of lineBlocks(file)) {
    const changes: NonNullable<ReturnType<typeof readDesignLine>['change']>[] = [];
    for (const [index, content] of lines.entries()) {
      if (content?.trim() === '') continue;
      const line = first + index;
      const { change, reason } = readDesignLine(content, line);
      if (reason !== undefined) rejected.add(line, reason, content);
      if (change !== undefined && line > resumedAfter) changes.push(change);
    }
    for (let start = 0; start < changes.length; start += maxChanges)
      yield { source, changes: changes.slice(start, start + maxChanges) };
    progress.update(first + lines.length - 1, identity.lines);
  }
  yield { source, changes: [], last: true };
}

async function importOnce(deps: ImportDeps, job: ImportJob, identity: FileIdentity, resumedAfter: number) {
  // Read again, to report their rejected lines again.
  const rejected = openRejectedLines(job.rejectedTo);
  let readError: unknown;
  async function* watched() {
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

const ofBoth = { owner: filled, id: filled, revision: z.unknown().optional().transform(revisionOf) };
const upsertLine = z.strictObject(
  {
    op: z.literal('upsert'),
    ...ofBoth,
    ...{ title: filled, eventName: filled, shortDescr: filled },
    ...{ localId: text, eventId: text, eventDate: text, updatedAt: text, authorName: text },
  },
  { error: unknownFieldOf('an upsert') },
);
const deleteLine = z.strictObject(
  { op: z.literal('delete'), ...ofBoth, deletedAt: text },
  { error: unknownFieldOf('a delete') },
);
const designLine = z.discriminatedUnion('op', [upsertLine, deleteLine], {
  error: ({ code }) => (code === 'invalid_union' ? 'is neither "upsert" nor "delete".' : undefined),
});

function unknownFieldOf(record: string) {
  return (issue: { readonly code: string; readonly keys?: readonly string[] }) =>
    issue.code === 'unrecognized_keys'
      ? `${JSON.stringify(issue.keys?.[0]?.slice(0, 40))} is not a field of ${record}.`
      : undefined;
}

const tooLarge = 'is too large for a JSON number: write it in quotes.';
const wrongRevision = `is not a whole number from 1 to ${highestRevision}.`;

function revisionOf(value: unknown, { addIssue }: z.RefinementCtx): bigint {
  if (value === undefined || value === null) return 0n;
  const isLarge = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  const digits = typeof value === 'number' ? String(value) : value;
  const revision = typeof digits === 'string' && /^\d{1,20}$/.test(digits) ? BigInt(digits) : 0n;
  if (!isLarge && revision >= 1n && revision <= highestRevision) return revision;
  addIssue({ code: 'custom', message: isLarge ? tooLarge : wrongRevision });
  return z.NEVER;
}

/** `line` counts from 1 and becomes the position. A reason quotes at most a field's name. */
export function readDesignLine(content: string | undefined, line: number) {
  const read = readLine(designLine, content);
  if (read.reason !== undefined) return { reason: read.reason };
  const { owner, id, revision } = read.value;
  const change = { position: BigInt(line), owner, id, revision, change: changeOf(read.value) };
  const reason = designChangeProblem(change);
  return reason === undefined ? { change } : { reason };
}

/** Null and absent are the same. */
function changeOf(fields: z.output<typeof designLine>) {
  if (fields.op === 'delete')
    return { case: 'deletion', value: given({ deletedAt: fields.deletedAt }) } as const;
  const { title, eventName, shortDescr, localId, eventId, eventDate, updatedAt, authorName } = fields;
  const optional = given({ localId, eventId, eventDate, updatedAt, authorName });
  return { case: 'upsert', value: { title, eventName, shortDescr, ...optional } } as const;
}
