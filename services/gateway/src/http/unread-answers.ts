// Answers that their readers have not taken: how many bytes the process keeps of them, and for how long.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Failure, Overloaded } from '@course-exchange/runtime/process/errors';
import type { Logger } from '@course-exchange/runtime/process/logger';
import type { FastifyInstance } from 'fastify';
import { fairCapacity } from './fair-capacity.ts';

/** Bytes of lists on all connections. A pod has 512 MiB, of which a busy gateway needs 180. */
const capacity = 256 * 1024 * 1024;
/** Bytes of a connection that are not counted, so that slow readers do not keep small lists from others. */
const alwaysFree = 16 * 1024;

/** A connection whose client takes nothing for four sweeps, 20 to 25 s, ends. */
const sweepMs = 5_000;
const longestStall = 4;

interface Connection {
  /** Bytes of its answers. */
  held: number;
  /** Bytes taken at the last sweep; -1 where nothing was waiting. */
  taken: number;
  stalls: number;
}

export type UnreadAnswers = ReturnType<typeof limitUnreadAnswers>;

/**
 * Counts `bytes` of `response` for `network` until they are taken or their connection ends. Throws `Overloaded` where
 * there is no capacity, and `server_error` where there never will be (R14.8); then none of its bytes count.
 */
export function limitUnreadAnswers(app: FastifyInstance, logger: Logger) {
  const unread = fairCapacity(capacity);
  const connections = new Map<Socket, Connection>();
  app.addHook('onRequest', ({ socket }, _reply, done) => {
    if (!connections.has(socket)) {
      connections.set(socket, { held: 0, taken: -1, stalls: 0 });
      // One for each pipelined answer.
      socket.setMaxListeners(0).once('close', () => connections.delete(socket));
    }
    done();
  });
  const sweep = setInterval(() => endStalled(connections, logger), sweepMs).unref();
  app.addHook('onClose', async () => clearInterval(sweep));

  return (response: ServerResponse, network: string) => {
    const { socket } = response.req;
    const connection = connections.get(socket) ?? { held: 0 };
    let [bytes, counted] = [0, 0];
    const free = (): void => {
      for (const emitter of [response, socket]) emitter.off('close', free);
      unread.release(network, counted);
      connection.held -= bytes;
      [bytes, counted] = [0, 0];
    };
    const count = (more: number): void => {
      if (bytes + more > unread.largestShare) throw new Failure('server_error', 'the answer is too large');
      const isFree = connection.held + more <= alwaysFree;
      if (!isFree && !unread.acquire(network, more))
        throw new Overloaded('too many bytes of answers are not taken');
      bytes += more;
      counted += isFree ? 0 : more;
      connection.held += more;
    };
    return (more: number): void => {
      if (!connections.has(socket) || response.writableEnded) throw new Overloaded('nobody waits any more');
      // A pipelined answer does not close when its connection does.
      if (bytes === 0) for (const emitter of [response, socket]) emitter.once('close', free);
      try {
        count(more);
      } catch (error) {
        // At once, for other answers that grow meanwhile.
        free();
        throw error;
      }
    };
  };
}

/** Node's own timeout of a socket starts again with each byte that the client sends. */
function endStalled(connections: ReadonlyMap<Socket, Connection>, logger: Logger): void {
  for (const [socket, connection] of connections) {
    const taken = socket.writableLength === 0 ? -1 : socket.bytesWritten - socket.writableLength;
    connection.stalls = taken === -1 || taken !== connection.taken ? 0 : connection.stalls + 1;
    connection.taken = taken;
    if (connection.stalls < longestStall) continue;
    logger.info('answer not taken');
    // A close alone would leave what the kernel holds until its retries end.
    socket.resetAndDestroy();
  }
}
