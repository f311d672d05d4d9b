// Bounds client connections, the requests on them, and how long answers may stay unread.
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '@course-exchange/runtime/process/logger';
import { stopwatch } from '@course-exchange/runtime/process/metrics';
import type { FastifyInstance } from 'fastify';
import { createPace } from './pace.ts';
import { createPipelines } from './pipeline.ts';
import { peerNetwork } from './request.ts';

const maxConnections = 8_192;
/** Above this share one connection ends for each new one. */
const fullShare = 15 / 16;

/** Four sweeps without a byte read (20 to 25 s) end a connection. */
const sweepMs = 5_000;
const longestStall = 4;

interface Connection {
  /** Begun or waiting, in the order of their requests. */
  readonly answers: Set<ServerResponse>;
  readonly pipeline: ReturnType<ReturnType<typeof createPipelines>>;
  readonly onRequest: () => void;
  /** Bytes read at the last sweep; -1 when nothing was pending. */
  read: number;
  stalls: number;
}

/**
 * The longest idle connection (since it opened, its last answer or a header) ends at capacity, so that unfinished
 * requests cannot keep others out. One that is being answered stays.
 */
export function limitConnections(app: FastifyInstance, logger: Logger) {
  const { server } = app;
  /** Longest idle first. */
  const connections = new Map<Socket, Connection>();
  const waitsFromNowOn = (socket: Socket, connection: Connection): void => {
    connections.delete(socket);
    connections.set(socket, connection);
  };
  const makeRoom = (): void => {
    const most = Math.floor(server.maxConnections * fullShare);
    for (const [socket, { answers }] of connections) {
      if (connections.size < most) return;
      if (answers.values().some(({ req }) => req.complete)) continue;
      connections.delete(socket);
      socket.destroy();
    }
  };
  const [begin] = server.listeners('request') as RequestListener[];
  if (begin === undefined) throw new Error('The framework does not listen to requests.');
  const [openPipeline, keepPace] = [createPipelines(begin), createPace(stopwatch())];
  server.maxConnections = maxConnections;
  server.on('drop', makeRoom).on('connection', (socket: Socket) => {
    makeRoom();
    const network = peerNetwork(socket);
    const pipeline = openPipeline(socket, network);
    const onRequest = keepPace(network, socket);
    const answers = new Set<ServerResponse>();
    connections.set(socket, { answers, pipeline, onRequest, read: -1, stalls: 0 });
    socket.setMaxListeners(0).once('close', () => {
      connections.delete(socket);
      pipeline.drop();
    });
  });
  server.removeAllListeners('request').on('request', ({ socket }, response) => {
    const connection = connections.get(socket);
    if (connection === undefined) return void socket.destroy();
    connection.onRequest();
    connection.answers.add(response);
    waitsFromNowOn(socket, connection);
    response.once('close', () => {
      connection.answers.delete(response);
      if (connections.has(socket)) waitsFromNowOn(socket, connection);
      connection.pipeline.ended();
    });
    connection.pipeline.add(response);
  });
  const sweep = setInterval(() => endStalled(connections, logger), sweepMs).unref();
  app.addHook('onClose', async () => clearInterval(sweep));
  return {
    /** Not ended, in the order of their requests. */
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
