// Imports a file of design changes: sends what is right, puts aside what is not, and goes on where an earlier
// import of the same content was committed, whatever ended it.
import type { Client } from '@connectrpc/connect';
import type { FeedService } from '@course-exchange/proto/feed/v1';
import { type ApplyMessage, applyMessages, type Reading } from './apply-messages.ts';
import { isInterruption } from './interruption.ts';
import { type Content, type FileIdentity, identifyFile } from './line-blocks.ts';
import {
  openRejectedLines,
  type RejectedLine,
  type RejectedLines,
  type RejectedPlace,
} from './rejected-lines.ts';

export interface ImportOptions {
  readonly file: Content;
  readonly rejectedTo: RejectedPlace;
  /** Sends what stands before the first rejected line, and no more. */
  readonly stopAtRejected: boolean;
  /** Sends every line, also those that an interrupted import has committed. */
  readonly fromStart: boolean;
}

export interface ImportParts {
  readonly progress: { readonly at: (done: number, total: number) => void; readonly end: () => void };
  readonly sleep: (ms: number) => Promise<void>;
  readonly signal?: AbortSignal;
}

export interface ImportReport {
  readonly lines: number;
  /** Line after which this import went on; 0: from the start. What follows counts from there. */
  readonly resumedAfter: number;
  readonly upserted: number;
  readonly deleted: number;
  /** Known already, in this revision or a later one. */
  readonly ignored: number;
  /** Of the whole file. */
  readonly rejected: number;
  /** The first ten. */
  readonly rejectedLines: readonly RejectedLine[];
  /** Ended at a rejected line. */
  readonly stopped: boolean;
}

type Feed = Client<typeof FeedService>;
/** How long a service that answered and went away is waited for, in milliseconds, since it last committed something. */
const patienceMs = 60_000;
const pauseMs = 1_000;

/** Throws what the service says, or a Problem with the file. Repeating it is always safe. */
export async function importDesigns(
  feed: Feed,
  options: ImportOptions,
  parts: ImportParts,
): Promise<ImportReport> {
  const identity = await identifyFile(options.file);
  let waitedMs = 0;
  let committed = -1;
  for (;;) {
    try {
      const resumedAfter = await resumePoint(feed, identity, options.fromStart && committed === -1);
      if (resumedAfter > committed) waitedMs = 0;
      committed = resumedAfter;
      return await importOnce(feed, options, parts, identity, resumedAfter);
    } catch (error) {
      const hopeless = parts.signal?.aborted || committed === -1 || waitedMs >= patienceMs;
      if (hopeless || !isInterruption(error)) throw error;
    } finally {
      parts.progress.end();
    }
    waitedMs += pauseMs;
    await parts.sleep(pauseMs);
  }
}

/** Reads the file as an import would, and sends nothing. */
export async function rehearseImport(options: ImportOptions, parts: ImportParts): Promise<ImportReport> {
  const identity = await identifyFile(options.file);
  const rejected = openRejectedLines(undefined);
  const total = { upserted: 0, deleted: 0, stopped: false };
  const reading = readingOf(options, parts, identity, rejected, 0);
  for await (const { changes, last } of applyMessages(options.file, reading)) {
    const upserted = changes.filter(({ change }) => change?.case === 'upsert').length;
    total.upserted += upserted;
    total.deleted += changes.length - upserted;
    total.stopped = last !== true;
  }
  parts.progress.end();
  return { ...total, ...account(identity, rejected), ignored: 0, resumedAfter: 0 };
}

async function resumePoint(feed: Feed, identity: FileIdentity, fromStart: boolean): Promise<number> {
  if (fromStart) return 0;
  const { position } = await feed.getResumePoint({ source: sourceOf(identity) });
  return Number(position);
}

/** The content, not the name: a file that was mended is another source. */
function sourceOf({ digest }: FileIdentity): string {
  return `file:${digest}`;
}

function readingOf(
  { stopAtRejected }: ImportOptions,
  { progress }: ImportParts,
  identity: FileIdentity,
  rejected: RejectedLines,
  resumedAfter: number,
): Reading {
  const read = (line: number) => progress.at(line, identity.lines);
  return { source: sourceOf(identity), stopAtRejected, resumedAfter, rejected, read };
}

async function importOnce(
  feed: Feed,
  options: ImportOptions,
  parts: ImportParts,
  identity: FileIdentity,
  resumedAfter: number,
): Promise<ImportReport> {
  // Lines before the resume point are read again, so that the rejected ones among them are told of again.
  const rejected = openRejectedLines(options.rejectedTo);
  const reading = readingOf(options, parts, identity, rejected, resumedAfter);
  let stopped = false;
  let unreadable: unknown;
  async function* watched(): AsyncGenerator<ApplyMessage> {
    try {
      for await (const message of applyMessages(options.file, reading)) {
        stopped = message.last !== true;
        yield message;
      }
    } catch (error) {
      unreadable = error;
      throw error;
    }
  }
  try {
    const call = parts.signal === undefined ? {} : { signal: parts.signal };
    const { upserted, deleted, ignored } = await feed.apply(watched(), call);
    return {
      ...account(identity, rejected),
      resumedAfter,
      upserted: Number(upserted),
      deleted: Number(deleted),
      ignored: Number(ignored),
      stopped,
    };
  } catch (error) {
    // The transport reports a file that cannot be read as a lost call.
    throw unreadable ?? error;
  } finally {
    rejected.close();
  }
}

function account({ lines }: FileIdentity, rejected: RejectedLines) {
  return { lines, rejected: rejected.count(), rejectedLines: rejected.first() };
}
