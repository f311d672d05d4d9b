// Keeps an answer while the service behind it is down (R14), for a bounded time, so that a withdrawn key does not live
// on here.
import { Failure } from '@course-exchange/runtime/process/errors';
import { inOneFlight } from '@course-exchange/runtime/process/one-flight';

/** How long an answer may be reused, in milliseconds. */
const longestReuse = 3_600_000;
/** After a failure the last answer is reused for this long without a call (ms). */
const pause = 2_000;

/**
 * Calls `read`, once for concurrent callers. While it is unavailable, answers with the last success of the past hour.
 */
export function withLastAnswer<T>(read: () => Promise<T>, now: () => number): () => Promise<T> {
  let last: { readonly answer: T; readonly at: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const readOnce = inOneFlight(read);
  return async () => {
    if (last && now() - failedAt < pause && now() - last.at < longestReuse) return last.answer;
    try {
      last = { answer: await readOnce(), at: now() };
      failedAt = Number.NEGATIVE_INFINITY;
      return last.answer;
    } catch (error) {
      const unanswered = error instanceof Failure && error.code === 'temporarily_unavailable';
      if (unanswered) failedAt = now();
      if (unanswered && last && now() - last.at < longestReuse) return last.answer;
      throw error;
    }
  };
}
