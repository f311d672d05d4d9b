// Answers that their readers have not taken: how many bytes the process keeps of them, and for how long.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { Failure, Overloaded } from '@course-exchange/runtime/process/errors';
import type { Logger } from '@course-exchange/runtime/process/logger';
import type { FastifyInstance } from 'fastify';

/**
 * Bytes of lists on all connections together. A pod has 512 MiB, of which a busy gateway needs 180: this leaves room
 * for what is no list. It is several hundred lists of 2,000 Events.
 */
const maxUnreadBytes = 256 * 1024 * 1024;

/** Bytes that a connection may always have: whoever fills the bound does not keep small lists from others. */
const bytesOfRight = 16 * 1024;

/** An answer of which nothing is taken for four sweeps, 20 to 25 s, ends its connection. */
const sweepMs = 5_000;
const longestStall = 4;

/**
 * Counts `bytes` until `response` is taken or its connection ends. Throws `Overloaded` when there is no room, and
 * `server_error` when there never will be, for the answer alone takes more (R14); then none of its bytes count.
 */
export type HoldAnswer = (response: ServerResponse, bytes: number) => void;

interface Connection {
  held: number;
  /** Bytes taken so far, as the last sweep saw it; -1 where nothing was waiting. */
  taken: number;
  stalls: number;
}

interface Unread {
  readonly connections: Map<Socket, Connection>;
  readonly bytesOf: WeakMap<ServerResponse, number>;
  total: number;
}

export function limitUnreadAnswers(app: FastifyInstance, logger: Logger): HoldAnswer {
  const unread: Unread = { connections: new Map(), bytesOf: new WeakMap(), total: 0 };
  app.addHook('onRequest', ({ socket }, _reply, done) => {
    if (!unread.connections.has(socket)) follow(unread, socket);
    done();
  });
  const sweep = setInterval(() => endStalled(unread.connections, logger), sweepMs).unref();
  app.addHook('onClose', async () => clearInterval(sweep));
  return (response, bytes) => hold(unread, response, bytes);
}

function follow(unread: Unread, socket: Socket): void {
  const connection = { held: 0, taken: -1, stalls: 0 };
  unread.connections.set(socket, connection);
  socket.once('close', () => {
    unread.connections.delete(socket);
    // Of all its answers: one that waits behind another does not close when its connection does.
    unread.total -= connection.held;
  });
}

function hold(unread: Unread, response: ServerResponse, bytes: number): void {
  const connection = unread.connections.get(response.req.socket);
  if (connection === undefined || response.writableEnded) throw new Overloaded('nobody waits any more');
  if ((unread.bytesOf.get(response) ?? 0) + bytes > maxUnreadBytes) {
    release(unread, response);
    throw new Failure('server_error', 'the answer is too large');
  }
  if (connection.held + bytes > bytesOfRight && unread.total + bytes > maxUnreadBytes) {
    // At once, so that of several that grow together the others get their room.
    release(unread, response);
    throw new Overloaded('too many bytes of answers are not taken');
  }
  if (!unread.bytesOf.has(response)) response.once('close', () => release(unread, response));
  unread.bytesOf.set(response, (unread.bytesOf.get(response) ?? 0) + bytes);
  connection.held += bytes;
  unread.total += bytes;
}

function release(unread: Unread, response: ServerResponse): void {
  const connection = unread.connections.get(response.req.socket);
  const bytes = unread.bytesOf.get(response) ?? 0;
  unread.bytesOf.delete(response);
  if (connection === undefined) return;
  connection.held -= bytes;
  unread.total -= bytes;
}

/** Node's own timeout of a socket would start anew with each byte that the client sends. */
function endStalled(connections: ReadonlyMap<Socket, Connection>, logger: Logger): void {
  for (const [socket, connection] of connections) {
    const taken = socket.writableLength === 0 ? -1 : socket.bytesWritten - socket.writableLength;
    connection.stalls = taken === -1 || taken !== connection.taken ? 0 : connection.stalls + 1;
    connection.taken = taken;
    if (connection.stalls < longestStall) continue;
    logger.info('answer not taken');
    // A close alone would leave what the kernel holds until its own retries end.
    socket.resetAndDestroy();
  }
}

/** So small that a slow reader's progress shows: about 3 KB/s is enough. */
const sliceBytes = 64 * 1024;

/** A long body goes out as the reader takes it. */
export function bodyOf(parts: readonly Uint8Array[], length: number): Buffer | Readable {
  if (length <= sliceBytes) return Buffer.concat(parts);
  return Readable.from(slices(parts), { objectMode: false, highWaterMark: sliceBytes });
}

function* slices(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const part of parts)
    for (let start = 0; start < part.length; start += sliceBytes)
      yield part.subarray(start, start + sliceBytes);
}
