// What is looked at before a job changes anything: groups of checks, each with its findings, told one line a finding.
import { describeError, type Logger, type LogText, logText } from '../logger.ts';

export interface Finding {
  /** `failure`: nothing may be changed. `warning`: go on, but read it. `left out`: there was nothing to look at. */
  readonly kind: 'failure' | 'warning' | 'left out';
  /** One sentence that says what to do and names the setting; hosts and roles may stand in it, never a secret. */
  readonly says: string;
}

export interface CheckGroup {
  readonly name: string;
  /** Everything that is wrong; empty when all is well. */
  readonly run: () => Promise<readonly Finding[]>;
}

export function failure(says: string): Finding {
  return { kind: 'failure', says };
}

export function warning(says: string): Finding {
  return { kind: 'warning', says };
}

export function leftOut(says: string): Finding {
  return { kind: 'left out', says };
}

/** Runs every group, one after the other, and tells all that they find. True when nothing failed. */
export async function runChecks(groups: readonly CheckGroup[], logger: Logger): Promise<boolean> {
  let passed = true;
  for (const { name, run } of groups) {
    const findings = await run().catch((error: unknown) => [unforeseen(name, error, logger)]);
    for (const finding of findings) tell(finding, logText(name), logger);
    if (findings.length === 0) logger.info('check passed', { check: logText(name) });
    if (findings.some(({ kind }) => kind === 'failure')) passed = false;
  }
  return passed;
}

function tell({ kind, says }: Finding, check: LogText, logger: Logger): void {
  const sentence = logText(says);
  if (kind === 'failure') logger.error('check failed', { check, sentence });
  else if (kind === 'warning') logger.warn('check warns', { check, sentence });
  else logger.info('check left out', { check, sentence });
}

function unforeseen(name: string, error: unknown, logger: Logger): Finding {
  logger.error('check broke off', { check: logText(name), ...describeError(error) });
  return failure('The check broke off: the line before this one says where; run the job again.');
}
