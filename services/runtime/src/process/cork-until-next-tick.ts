// One write to a socket for all requests of one turn of the event loop: a write costs the process as much CPU
// as an ES256 signature, however much it carries.
import type { Writable } from 'node:stream';

/**
 * Call before each write to `stream`, a connection that many requests share. What is written goes out once the
 * loop has taken in everything that was waiting in this turn: no later than the next turn begins.
 */
export function corkUntilNextTick(stream: Writable): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  setImmediate(() => stream.uncork());
}
