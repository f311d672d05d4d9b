// The feed's surface: a port of its own that the public gateway has no route to, a database role and a pool of
// its own. Off where no database is configured for it.
import { FeedService } from '@course-exchange/proto/feed/v1';
import { operatorErrorStatuses } from '@course-exchange/proto/operator-error-codes';
import type { Logger } from '@course-exchange/runtime/logger';
import { openDatabase } from '@course-exchange/runtime/postgres';
import { privateListener } from '@course-exchange/runtime/private-port';
import { served, serveRpc } from '@course-exchange/runtime/rpc-server';
import { type CatalogConfig, feedPort } from './config.ts';
import { applyChanges } from './feed/apply-changes.ts';
import type { BatchLimits } from './feed/change-batches.ts';
import { verifySummaries } from './feed/verify-summaries.ts';
import { repeatedly } from './feed/write-repetition.ts';
import { applyHandler } from './rpc/apply-changes.ts';
import { getResumePointHandler } from './rpc/get-resume-point.ts';
import { verifyHandler } from './rpc/verify-summaries.ts';
import { writeBatch } from './store/design-changes.ts';
import { findResumePoint } from './store/resume-points.ts';
import { schemaProblem } from './store/schema-version.ts';
import { mendSummaries, recountEvents } from './store/summary-recount.ts';

export interface FeedServer {
  /** Undefined at a Unix socket. */
  readonly port: number | undefined;
  /** One sentence when its database cannot serve it. */
  readonly problem: () => Promise<string | undefined>;
  readonly stop: (timeoutMs: number) => Promise<void>;
  /** Closes its connections to Postgres. */
  readonly close: () => Promise<void>;
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
  logger: Logger,
): Promise<FeedServer | undefined> {
  if (config.FEED_POSTGRES_URL === undefined) return undefined;
  const listener = privateListener(feedPort(config));
  const database = openDatabase({
    url: config.FEED_POSTGRES_URL.reveal(),
    applicationName: 'design-catalog feed',
    poolSize: connections,
    statementTimeoutMs,
    schema: 'catalog',
    logger,
  });
  const server = await serveRpc({
    ...listener,
    services: [
      served(FeedService, {
        apply: applyHandler({
          apply: (parts) =>
            applyChanges(parts, { write: (batch) => repeatedly(() => writeBatch(database, batch)), limits }),
          applied: ({ upserted, deleted, ignored }) =>
            logger.info('designs applied', { upserted, deleted, ignored }),
        }),
        getResumePoint: getResumePointHandler({
          findResumePoint: (source) => findResumePoint(database, source),
        }),
        verify: verifyHandler({
          verify: (repair) =>
            verifySummaries(
              {
                recount: (owner, most) => recountEvents(database, owner, most),
                mend: (differences) => repeatedly(() => mendSummaries(database, differences)),
              },
              repair,
            ),
        }),
      }),
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
