// Every pod follows the keys in Postgres within seconds: stage, activation and retirement need no restart.
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError, type Logger, logText } from '@course-exchange/runtime/logger';
import type { KeyRing } from './key-ring.ts';

const pollMs = 5_000;
/** While there is nothing to sign with, a start is waited for more eagerly. */
const retryMs = 500;

/** Reads the keys until `signal` aborts; failures are logged when they begin, not at every turn. */
export async function pollKeys(keys: KeyRing, logger: Logger, signal: AbortSignal): Promise<void> {
  let reported: string | undefined;
  while (!signal.aborted) {
    const problem = await refresh(keys);
    if (problem && problem.sentence !== reported)
      logger.warn('signing keys cannot be used', { problem: logText(problem.sentence), ...problem.fields });
    reported = problem?.sentence;
    const pause = keys.problem() === undefined ? pollMs : retryMs;
    await sleep(pause, undefined, { signal }).catch(() => {});
  }
}

async function refresh(keys: KeyRing) {
  try {
    await keys.refresh();
  } catch (error) {
    return { sentence: 'Signing keys could not be read', fields: describeError(error) };
  }
  const sentence = keys.problem();
  return sentence === undefined ? undefined : { sentence, fields: {} };
}
