// Checks that a job makes before it changes anything, and their report, one line a finding.
import { describeError, type Logger, logText } from './logger.ts';

export interface Finding {
  /** `failure`: nothing may be changed. `warning`: go on, but read it. `skipped`: there was nothing to check. */
  readonly kind: 'failure' | 'warning' | 'skipped';
  /** One sentence that says what to do and names the setting; hosts and roles may stand in it, never a secret. */
  readonly message: string;
}

export const failure = (message: string): Finding => ({ kind: 'failure', message });
export const warning = (message: string): Finding => ({ kind: 'warning', message });
export const skipped = (message: string): Finding => ({ kind: 'skipped', message });

/** The sentences that hold. */
export function findings(
  kind: typeof failure | typeof warning,
  sentences: Readonly<Record<string, boolean>>,
): readonly Finding[] {
  return Object.keys(sentences).flatMap((sentence) => (sentences[sentence] ? kind(sentence) : []));
}

/** Runs a check, which returns everything that is wrong, and logs that. */
export type RunCheck = (name: string, check: () => Promise<readonly Finding[]>) => Promise<void>;

/** True when none of the checks that `work` runs has failed. */
export async function withChecks(logger: Logger, work: (run: RunCheck) => Promise<void>): Promise<boolean> {
  let passed = true;
  await work(async (name, run) => {
    const check = logText(name);
    const found = await run().catch((error: unknown) => {
      logger.error('check ended with an error', { check, ...describeError(error) });
      return [failure('The check ended with the error that the line before names: run the job again.')];
    });
    if (found.length === 0) logger.info('check passed', { check });
    for (const { kind, message } of found) {
      const fields = { check, sentence: logText(message) };
      if (kind === 'failure') logger.error('check failed', fields);
      else if (kind === 'warning') logger.warn('check warns', fields);
      else logger.info('check skipped', fields);
    }
    passed &&= found.every(({ kind }) => kind !== 'failure');
  });
  return passed;
}
