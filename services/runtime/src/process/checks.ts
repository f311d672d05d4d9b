// Checks that a job makes before it changes anything: groups, each with its findings, reported one line a finding.
import { describeError, type Logger, type LogText, logText } from './logger.ts';

export interface Finding {
  /** `failure`: nothing may be changed. `warning`: go on, but read it. `skipped`: there was nothing to check. */
  readonly kind: 'failure' | 'warning' | 'skipped';
  /** One sentence that says what to do and names the setting; hosts and roles may stand in it, never a secret. */
  readonly message: string;
}

export interface CheckGroup {
  readonly name: string;
  /** Everything that is wrong; empty when all is well. */
  readonly run: () => Promise<readonly Finding[]>;
}

export function failure(message: string): Finding {
  return { kind: 'failure', message };
}

export function warning(message: string): Finding {
  return { kind: 'warning', message };
}

export function skipped(message: string): Finding {
  return { kind: 'skipped', message };
}

/** Runs every group, one after the other, and reports all that they find. True when nothing failed. */
export async function runChecks(groups: readonly CheckGroup[], logger: Logger): Promise<boolean> {
  let passed = true;
  for (const { name, run } of groups) {
    const findings = await run().catch((error: unknown) => [unforeseen(name, error, logger)]);
    for (const finding of findings) report(finding, logText(name), logger);
    if (findings.length === 0) logger.info('check passed', { check: logText(name) });
    if (findings.some(({ kind }) => kind === 'failure')) passed = false;
  }
  return passed;
}

function report({ kind, message }: Finding, check: LogText, logger: Logger): void {
  const sentence = logText(message);
  if (kind === 'failure') logger.error('check failed', { check, sentence });
  else if (kind === 'warning') logger.warn('check warns', { check, sentence });
  else logger.info('check skipped', { check, sentence });
}

function unforeseen(name: string, error: unknown, logger: Logger): Finding {
  logger.error('check ended with an error', { check: logText(name), ...describeError(error) });
  return failure('The check ended with an error: the line before this one says where; run the job again.');
}
