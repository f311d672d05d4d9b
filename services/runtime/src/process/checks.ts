// A job's checks and their report, one line per finding.
import { describeError, type Logger, logText } from './logger.ts';
import { type Condition, messagesOf } from './settings.ts';

export interface Finding {
  /** `failure`: nothing may be changed. `skipped`: there was nothing to check. */
  readonly kind: 'failure' | 'warning' | 'skipped';
  /** One sentence that names the setting and no secret. */
  readonly message: string;
}

export function findings(kind: Finding['kind'], conditions: readonly Condition[]): readonly Finding[] {
  return messagesOf(conditions).map((message) => ({ kind, message }));
}

/** A message may quote the request. */
export function codeOf(error: unknown): string {
  // ioredis wraps the fault of a Cluster node.
  const { lastNodeError = error } = error as { readonly lastNodeError?: unknown };
  const { code, message = '' } = lastNodeError as { readonly code?: string; readonly message?: string };
  return code ?? /^[A-Z]{4,}\b/.exec(message)?.[0] ?? 'no answer';
}

/** Runs a check, which returns all findings, and logs them. */
export type RunCheck = (name: string, check: () => Promise<readonly Finding[]>) => Promise<void>;

/** True when no check that `work` runs has failed. */
export async function withChecks(logger: Logger, work: (run: RunCheck) => Promise<void>): Promise<boolean> {
  let passed = true;
  await work(async (name, run) => {
    const check = logText(name);
    const found = await run().catch((error: unknown) => {
      logger.error('check ended with an error', { check, ...describeError(error) });
      passed = false;
    });
    if (found?.length === 0) logger.info('check passed', { check });
    for (const { kind, message } of found ?? []) {
      const fields = { check, sentence: logText(message) };
      if (kind === 'failure') logger.error('check failed', fields);
      else if (kind === 'warning') logger.warn('check warns', fields);
      else logger.info('check skipped', fields);
      passed &&= kind !== 'failure';
    }
  });
  return passed;
}
