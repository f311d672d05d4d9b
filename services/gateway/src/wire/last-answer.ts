// Keeps the last answer of a public read, so that discovery and the key set outlive an identity service
// that does not answer (R14). Bounded, so that a key that was withdrawn does not live on here.
import { Failure } from '@course-exchange/runtime/failure';

/** How long an answer may stand in for a fresh one, in milliseconds. */
const longestStandIn = 3_600_000;

/** Asks `read` each time; answers with the last success of the past hour when it is unavailable. */
export function withLastAnswer<T>(read: () => Promise<T>, now: () => number): () => Promise<T> {
  let last: { readonly answer: T; readonly at: number } | undefined;
  return async () => {
    try {
      last = { answer: await read(), at: now() };
      return last.answer;
    } catch (error) {
      const unanswered = error instanceof Failure && error.code === 'temporarily_unavailable';
      if (unanswered && last && now() - last.at < longestStandIn) return last.answer;
      throw error;
    }
  };
}
