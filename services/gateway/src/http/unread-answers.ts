// Bounds the bytes of answers that clients have not read yet.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Failure, Overloaded } from '@course-exchange/runtime/process/errors';
import { fairCapacity } from './fair-capacity.ts';

/** Bytes of lists on all connections. A pod has 512 MiB, of which a busy gateway needs 180. */
const capacity = 256 * 1024 * 1024;
/** Per connection and not counted, so that slow readers cannot starve small lists. */
const alwaysFree = 16 * 1024;

export type UnreadAnswers = ReturnType<typeof limitUnreadAnswers>;

/**
 * Counts `bytes` of `response` until they are read or the connection ends. Throws `Overloaded` at capacity,
 * `server_error` when the answer can never fit (R14.8); then none of its bytes count.
 */
export function limitUnreadAnswers() {
  const unread = fairCapacity(capacity);
  const heldBy = new WeakMap<Socket, number>();

  return (response: ServerResponse, network: string) => {
    const { socket } = response.req;
    let [bytes, counted] = [0, 0];
    const free = (): void => {
      for (const emitter of [response, socket]) emitter.off('close', free);
      unread.release(network, counted);
      heldBy.set(socket, (heldBy.get(socket) ?? 0) - bytes);
      [bytes, counted] = [0, 0];
    };
    const hold = (more: number): Failure | undefined => {
      bytes += more;
      const held = (heldBy.get(socket) ?? 0) + more;
      heldBy.set(socket, held);
      if (bytes > unread.largestShare) return new Failure('server_error', 'answer too large');
      const due = held > alwaysFree ? more : 0;
      if (due > 0 && !unread.acquire(network, due)) return new Overloaded('answer_bytes_at_capacity');
      counted += due;
      return undefined;
    };
    return (more: number): void => {
      if (socket.destroyed || response.writableEnded) throw new Overloaded('client_disconnected');
      // A pipelined answer does not close with its connection.
      if (bytes === 0) for (const emitter of [response, socket]) emitter.once('close', free);
      const refused = hold(more);
      if (refused === undefined) return;
      // Now, for other answers that grow meanwhile.
      free();
      throw refused;
    };
  };
}
