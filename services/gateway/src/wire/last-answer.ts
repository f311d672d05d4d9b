// Keeps the last answer of a public read, so that discovery and the key set outlive an identity service
// that does not answer (R14). Bounded, so that a key that was withdrawn does not live on here.
import { Failure } from '@course-exchange/runtime/failure';

/** How long an answer may stand in for a fresh one, in milliseconds. */
const longestStandIn = 3_600_000;
/** After a failure nobody waits for another one during this time (ms). */
const pause = 2_000;

/**
 * Asks `read` each time; answers with the last success of the past hour when it is unavailable, and for a
 * moment afterwards without asking, so that many callers do not all wait for a service that hangs.
 */
export function withLastAnswer<T>(read: () => Promise<T>, now: () => number): () => Promise<T> {
  let last: { readonly answer: T; readonly at: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (last && now() - failedAt < pause && now() - last.at < longestStandIn) return last.answer;
    try {
      last = { answer: await read(), at: now() };
      failedAt = Number.NEGATIVE_INFINITY;
      return last.answer;
    } catch (error) {
      const unanswered = error instanceof Failure && error.code === 'temporarily_unavailable';
      if (unanswered) failedAt = now();
      if (unanswered && last && now() - last.at < longestStandIn) return last.answer;
      throw error;
    }
  };
}
