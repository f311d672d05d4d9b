// Concurrent work as one: callers of one read, and the writes of one event-loop tick.
import type { Writable } from 'node:stream';

/** Concurrent callers share one `read`, with the deadline and the context of the first. */
export function inOneFlight<T>(read: () => Promise<T>): () => Promise<T> {
  let flight: Promise<T> | undefined;
  return () => {
    flight ??= read().finally(() => {
      flight = undefined;
    });
    return flight;
  };
}

/** Joins the writes of a tick. Call before each write to `stream`, a connection that many requests share. */
export function corkUntilNextTick(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}
