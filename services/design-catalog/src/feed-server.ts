// The feed's surface: a port of its own that the public gateway has no route to, a database role and a pool of
// its own. Off where no database is configured for it.
import { setTimeout as sleep } from 'node:timers/promises';
import { FeedService } from '@course-exchange/proto/feed/v1';
import { AuditService } from '@course-exchange/proto/operator/v1/audit';
import { operatorErrorStatuses } from '@course-exchange/proto/operator-error-codes';
import type { AuditHead, AuditOrigin } from '@course-exchange/runtime/audit-log';
import { type Logger, logText } from '@course-exchange/runtime/logger';
import { type Database, openDatabase } from '@course-exchange/runtime/postgres';
import { postgresAccess } from '@course-exchange/runtime/postgres-settings';
import { privateListener } from '@course-exchange/runtime/private-port';
import { type ServedService, served, serveRpc } from '@course-exchange/runtime/rpc-server';
import { type CatalogConfig, feedPort } from './config.ts';
import type { ChangeBatch } from './domain/design-change.ts';
import { applyChanges } from './feed/apply-changes.ts';
import type { BatchLimits } from './feed/change-batches.ts';
import { verifySummaries } from './feed/verify-summaries.ts';
import { repeatedly } from './feed/write-repetition.ts';
import { applyHandler } from './rpc/apply-changes.ts';
import { createAuditHandlers } from './rpc/audit-handlers.ts';
import type { Caller } from './rpc/caller.ts';
import { getResumePointHandler } from './rpc/get-resume-point.ts';
import { verifyHandler } from './rpc/verify-summaries.ts';
import { writeBatch } from './store/design-changes.ts';
import { findResumePoint } from './store/resume-points.ts';
import { schemaProblem } from './store/schema-version.ts';
import { mendSummaries, recountEvents, type SummaryDifference } from './store/summary-recount.ts';

export interface FeedServer {
  /** Undefined at a Unix socket. */
  readonly port: number | undefined;
  /** One sentence when its database cannot serve it. */
  readonly problem: () => Promise<string | undefined>;
  readonly stop: (timeoutMs: number) => Promise<void>;
  /** Closes its connections to Postgres. */
  readonly close: () => Promise<void>;
}

export interface FeedMeans {
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A batch of the largest size takes some seconds on a busy machine. */
const statementTimeoutMs = 30_000;
/** Streams at once wait for one of these connections, each for a batch's time. */
const connections = 4;
const limits: BatchLimits = { changes: 10_000, characters: 8 * 1024 * 1024, waitMs: 500 };
const mostRequestBytes = 4 * 1024 * 1024;

/** Undefined when the feed is off. Throws ConfigurationError for an address that is open to everybody. */
export async function openFeed(
  config: CatalogConfig,
  schemaVersion: number,
  means: FeedMeans,
): Promise<FeedServer | undefined> {
  const { logger } = means;
  if (config.FEED_POSTGRES_URL === undefined) return undefined;
  const listener = privateListener(feedPort(config));
  const database = openDatabase({
    url: postgresAccess('FEED_POSTGRES'),
    applicationName: 'design-catalog feed',
    poolSize: connections,
    statementTimeoutMs,
    schema: 'catalog',
    logger,
  });
  const server = await serveRpc({
    ...listener,
    services: [
      servedFeed(database, means),
      served(AuditService, createAuditHandlers({ database, sleep: (milliseconds) => sleep(milliseconds) })),
    ],
    errorStatuses: operatorErrorStatuses,
    sendDetails: true,
    logger,
    maxRequestBytes: mostRequestBytes,
  });
  return {
    port: config.FEED_SOCKET === undefined ? server.port : undefined,
    problem: () => schemaProblem(database, schemaVersion),
    stop: server.stop,
    close: database.close,
  };
}

function servedFeed(database: Database, { logger, now }: FeedMeans): ServedService {
  const originOf = (caller: Caller): AuditOrigin => ({ ...caller, at: new Date(now()).toISOString() });
  // The log keeps the chain's end outside the database: a chain that was cut off or written anew shows.
  const audited = ({ sequence, hash }: AuditHead, { actor }: Caller) =>
    logger.info('audited', { sequence, hash: logText(hash), operator: logText(actor) });
  const write = async (batch: ChangeBatch, caller: Caller) => {
    const written = await repeatedly(() => writeBatch(database, batch, originOf(caller)));
    audited(written.head, caller);
    return written;
  };
  const mend = async (differences: readonly SummaryDifference[], caller: Caller) => {
    const head = await repeatedly(() => mendSummaries(database, differences, originOf(caller)));
    audited(head, caller);
  };
  return served(FeedService, {
    apply: applyHandler({
      apply: (parts, caller) => applyChanges(parts, { write: (batch) => write(batch, caller), limits }),
      applied: ({ upserted, deleted, ignored }) =>
        logger.info('designs applied', { upserted, deleted, ignored }),
    }),
    getResumePoint: getResumePointHandler({
      findResumePoint: (source) => findResumePoint(database, source),
    }),
    verify: verifyHandler({
      verify: (repairer) =>
        verifySummaries({
          recount: (owner, most) => recountEvents(database, owner, most),
          mend: repairer && ((differences) => mend(differences, repairer)),
        }),
    }),
  });
}
