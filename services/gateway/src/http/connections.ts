// Bounds client connections, their pipelined requests, and how long answers may stay unread.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '@course-exchange/runtime/process/logger';
import type { FastifyInstance } from 'fastify';

const maxConnections = 8_192;
/** Above this share one connection ends for each new one. */
const fullShare = 15 / 16;

const maxAhead = 32;

/** Four sweeps without a byte read (20 to 25 s) end a connection. */
const sweepMs = 5_000;
const longestStall = 4;

interface Connection {
  readonly answers: Set<ServerResponse>;
  /** Bytes read at the last sweep; -1 when nothing was pending. */
  read: number;
  stalls: number;
}

/**
 * The longest idle connection (since it opened, its last answer or a header) ends at capacity, so that unfinished
 * requests cannot keep others out. One that is being answered stays.
 */
export function limitConnections(app: FastifyInstance, logger: Logger) {
  /** Longest idle first. */
  const connections = new Map<Socket, Connection>();
  const waitsFromNowOn = (socket: Socket, connection: Connection): void => {
    connections.delete(socket);
    connections.set(socket, connection);
  };
  const makeRoom = (): void => {
    const most = Math.floor(app.server.maxConnections * fullShare);
    for (const [socket, { answers }] of connections) {
      if (connections.size < most) return;
      if (answers.values().some(({ req }) => req.complete)) continue;
      connections.delete(socket);
      socket.destroy();
    }
  };
  app.server.maxConnections = maxConnections;
  app.server.on('drop', makeRoom).on('connection', (socket: Socket) => {
    makeRoom();
    connections.set(socket, { answers: new Set(), read: -1, stalls: 0 });
    socket.setMaxListeners(0).once('close', () => connections.delete(socket));
  });
  app.addHook('onRequest', ({ socket }, reply, done) => {
    const connection = connections.get(socket);
    if (connection === undefined || connection.answers.size >= maxAhead) {
      reply.hijack();
      socket.destroy();
      return;
    }
    connection.answers.add(reply.raw);
    waitsFromNowOn(socket, connection);
    reply.raw.once('close', () => {
      connection.answers.delete(reply.raw);
      if (connections.has(socket)) waitsFromNowOn(socket, connection);
    });
    done();
  });
  const sweep = setInterval(() => endStalled(connections, logger), sweepMs).unref();
  app.addHook('onClose', async () => clearInterval(sweep));
  return {
    /** Begun and not ended, in the order of their requests. */
    answersOn: (socket: Socket): ServerResponse[] => [...(connections.get(socket)?.answers ?? [])],
  };
}

/** Node's socket timeout would restart with each byte that the client sends. */
function endStalled(connections: ReadonlyMap<Socket, Connection>, logger: Logger): void {
  for (const [socket, connection] of connections) {
    const read = socket.writableLength === 0 ? -1 : socket.bytesWritten - socket.writableLength;
    connection.stalls = read === -1 || read !== connection.read ? 0 : connection.stalls + 1;
    connection.read = read;
    if (connection.stalls < longestStall) continue;
    logger.info('answer not read');
    // A plain close would keep the kernel's buffer until its retries end.
    socket.resetAndDestroy();
  }
}
