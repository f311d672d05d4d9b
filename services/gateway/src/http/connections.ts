// Bounds the connections of clients and the requests that each may pipeline.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Each costs memory and a file descriptor. */
const maxConnections = 8_192;
/** From this share on one ends for the next; the rest are places for newcomers until it has closed. */
const roomShare = 15 / 16;

/** Pipelined requests on one connection. Node would begin all that a client sends. */
const maxAhead = 32;

/**
 * At capacity the connection ends that has waited longest for its client, since it was opened, its last answer left or
 * a header came: else a client that never ends its requests would keep others out. One that is being answered stays.
 */
export function limitConnections(app: FastifyInstance): void {
  /** Requests in flight of each connection. */
  const requestsOf = new Map<Socket, Set<IncomingMessage>>();
  /** In order of waiting, the longest first. Also holds some that are being answered by now. */
  const unfinished = new Set<Socket>();
  const forget = (socket: Socket): void => {
    requestsOf.delete(socket);
    unfinished.delete(socket);
  };
  const isBeingAnswered = (socket: Socket): boolean =>
    [...(requestsOf.get(socket) ?? [])].some(({ complete }) => complete);
  const waitsFromNowOn = (socket: Socket): void => {
    unfinished.delete(socket);
    unfinished.add(socket);
  };
  const makeRoom = (): void => {
    const room = Math.floor(app.server.maxConnections * roomShare);
    for (const socket of unfinished) {
      if (requestsOf.size < room) return;
      unfinished.delete(socket);
      if (isBeingAnswered(socket)) continue;
      forget(socket);
      socket.destroy();
    }
  };
  app.server.maxConnections = maxConnections;
  app.server.on('drop', makeRoom).on('connection', (socket: Socket) => {
    makeRoom();
    requestsOf.set(socket, new Set());
    unfinished.add(socket);
    socket.once('close', () => forget(socket));
  });
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const { socket } = raw;
    const requests = requestsOf.get(socket);
    requests?.add(raw);
    waitsFromNowOn(socket);
    reply.raw.once('close', () => {
      requests?.delete(raw);
      if (requestsOf.has(socket)) waitsFromNowOn(socket);
    });
    if (requests !== undefined && requests.size <= maxAhead) return done();
    reply.hijack();
    socket.destroy();
  });
}
