// Connections of clients: how many at a time, which one ends for a new one, and how much each may ask ahead.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** More than a gateway answers at a time; each costs memory and a file. One more is closed at once. */
const maxConnections = 8_192;
/** Of these are taken before one ends for the next. The rest keeps a newcomer's place until that one has closed. */
const roomShare = 15 / 16;

/**
 * Requests on one connection that wait for their answers. No client here sends more than one ahead, and Node would begin
 * all that a client sends.
 */
const maxAhead = 32;

/**
 * Where there is no room, the connection ends that has waited longest for its client, since it was opened, its last answer
 * left or a header came: else whoever opens them all, and never ends a request, would keep everybody out. One whose request
 * is whole is being answered, and stays.
 */
export function limitConnections(app: FastifyInstance): void {
  /** Of each connection, those that wait for their answers. */
  const requestsOf = new Map<Socket, Set<IncomingMessage>>();
  /** First the one that has waited longest. Also holds some that are being answered by now. */
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
    // Each would take the time and memory of all.
    reply.hijack();
    socket.destroy();
  });
}
