// Joins all writes to a socket in one event-loop tick.
import type { Writable } from 'node:stream';

/** Call before each write to `stream`, a connection that many requests share. */
export function corkUntilNextTick(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}
