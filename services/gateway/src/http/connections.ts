// Bounds the connections of clients, the requests that each may pipeline, and how long one takes nothing of its answers.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '@course-exchange/runtime/process/logger';
import type { FastifyInstance } from 'fastify';

/** Each costs memory and a file descriptor. */
const maxConnections = 8_192;
/** From this share on one ends for the next; the rest are places for newcomers until it has closed. */
const fullShare = 15 / 16;

/** Pipelined requests on one connection. Node would begin all that a client sends. */
const maxAhead = 32;

/** A connection whose client takes nothing for four sweeps, 20 to 25 s, ends. */
const sweepMs = 5_000;
const longestStall = 4;

interface Connection {
  readonly requests: Set<IncomingMessage>;
  /** Bytes taken at the last sweep; -1 where nothing was waiting. */
  taken: number;
  stalls: number;
}

/**
 * At capacity the connection ends that has waited longest for its client, since it was opened, its last answer left or
 * a header came: else a client that never ends its requests would keep others out. One that is being answered stays.
 */
export function limitConnections(app: FastifyInstance, logger: Logger): void {
  /** In order of waiting, the longest first. */
  const connections = new Map<Socket, Connection>();
  const waitsFromNowOn = (socket: Socket, connection: Connection): void => {
    connections.delete(socket);
    connections.set(socket, connection);
  };
  const makeRoom = (): void => {
    const most = Math.floor(app.server.maxConnections * fullShare);
    for (const [socket, { requests }] of connections) {
      if (connections.size < most) return;
      if (requests.values().some(({ complete }) => complete)) continue;
      connections.delete(socket);
      socket.destroy();
    }
  };
  app.server.maxConnections = maxConnections;
  app.server.on('drop', makeRoom).on('connection', (socket: Socket) => {
    makeRoom();
    connections.set(socket, { requests: new Set(), taken: -1, stalls: 0 });
    // Each pipelined answer listens.
    socket.setMaxListeners(0).once('close', () => connections.delete(socket));
  });
  app.addHook('onRequest', ({ raw, socket }, reply, done) => {
    const connection = connections.get(socket);
    if (connection === undefined || connection.requests.size >= maxAhead) {
      reply.hijack();
      socket.destroy();
      return;
    }
    connection.requests.add(raw);
    waitsFromNowOn(socket, connection);
    reply.raw.once('close', () => {
      connection.requests.delete(raw);
      if (connections.has(socket)) waitsFromNowOn(socket, connection);
    });
    done();
  });
  const sweep = setInterval(() => endStalled(connections, logger), sweepMs).unref();
  app.addHook('onClose', async () => clearInterval(sweep));
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
