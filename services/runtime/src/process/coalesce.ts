// A read that concurrent callers share.

/** One `read` at a time, with the deadline and the context of the first. */
export function inOneFlight<T>(read: () => Promise<T>): () => Promise<T> {
  let flight: Promise<T> | undefined;
  return () => {
    flight ??= read().finally(() => {
      flight = undefined;
    });
    return flight;
  };
}
