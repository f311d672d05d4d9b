// Bounds the records of refusals (R34); one process at a time works.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queries } from '@course-exchange/runtime/postgres/pool';
import { describeError, type Logger } from '@course-exchange/runtime/process/logger';
import { cleanRefusals } from './refusal-table.ts';

const everyMs = 60_000;

/** Until `signal` aborts. */
export async function keepCleaning(database: Queries, logger: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await cleanRefusals(database).catch((error: unknown) =>
      logger.warn('refusals not cleaned', describeError(error)),
    );
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
}
