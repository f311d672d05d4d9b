// Keeps an answer for a bounded time while the service behind it is down (R14).

import { inOneFlight } from '@course-exchange/runtime/process/coalesce';
import { Failure } from '@course-exchange/runtime/process/errors';

const longestReuse = 3_600_000;
/** Milliseconds after a failure without a new call. */
const pause = 2_000;

/** Concurrent callers share a `read`. While it is unavailable, the last success of the past hour counts. */
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
