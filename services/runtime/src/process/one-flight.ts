// A read that many may ask for at once and that is under way once.

/** Those who ask while `read` is under way get its outcome, with the deadline and the context of who began it. */
export function inOneFlight<T>(read: () => Promise<T>): () => Promise<T> {
  let flight: Promise<T> | undefined;
  return () => {
    flight ??= read().finally(() => {
      flight = undefined;
    });
    return flight;
  };
}
