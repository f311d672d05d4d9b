// A keep-alive HTTP/1.1 connection of the load generator: one request at a time, written and read with as little work as
// possible, since servers and generator share the machine.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Reply {
  readonly status: number;
  /** Seconds; 0 where the answer names none. */
  readonly retryAfter: number;
  readonly body: Buffer;
}

export interface Connection {
  /** Resolves when there is a connection; `ask` opens one by itself. */
  readonly open: () => Promise<void>;
  /** Sends `request`, whole. Rejects when no answer comes in time. */
  readonly ask: (request: string) => Promise<Reply>;
  readonly close: () => void;
}

interface Patience {
  /** Milliseconds for an answer. */
  readonly timeoutMs?: number;
  /** Servers close what is idle: a connection that was not used for longer is left for a new one (ms). */
  readonly idleMs?: number;
}

function openConnection(origin: string, { timeoutMs = 10_000, idleMs = 2_000 }: Patience): Connection {
  const { hostname, port } = new URL(origin);
  let socket: Socket | undefined;
  let usedAt = 0;

  function current(): Socket {
    if (socket && !socket.destroyed && Date.now() - usedAt < idleMs) return socket;
    socket?.destroy();
    socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.setMaxListeners(0).on('error', () => {});
    usedAt = Date.now();
    return socket;
  }

  return {
    open: async () => {
      const line = current();
      if (line.connecting) await once(line, 'connect');
    },
    close: () => socket?.destroy(),
    ask: async (request) => {
      const line = current();
      line.write(request);
      try {
        return await answerOf(line, timeoutMs);
      } catch (error) {
        line.destroy();
        throw error;
      } finally {
        usedAt = Date.now();
      }
    },
  };
}

/** A connection for each lane, opened when it is first used. */
export function connectionsTo(origin: string, patience: Patience = {}): (lane: number) => Connection {
  const open = new Map<number, Connection>();
  return (lane) => {
    const connection = open.get(lane) ?? openConnection(origin, patience);
    open.set(lane, connection);
    return connection;
  };
}

function answerOf(socket: Socket, timeoutMs: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const read = answerReader();
    const settle = (then: () => void): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('error', onError).off('close', onClose);
      then();
    };
    const fail = (reason: string): void => settle(() => reject(new Error(reason)));
    const onData = (chunk: Buffer): void => {
      const reply = read(chunk);
      if (reply) settle(() => resolve(reply));
    };
    const onError = (error: Error): void => fail(error.message);
    const onClose = (): void => fail('closed without an answer');
    const timer = setTimeout(fail, timeoutMs, 'no answer in time');
    socket.on('data', onData).on('error', onError).on('close', onClose);
  });
}

interface Head {
  readonly status: number;
  readonly retryAfter: number;
  readonly bodyAt: number;
  /** Undefined: in chunks. */
  readonly length: number | undefined;
}

function headOf(received: string): Head | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = received.slice(0, end);
  const chunked = /\r\ntransfer-encoding: *chunked/i.test(head);
  const length = chunked ? undefined : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  const retryAfter = Number(/\r\nretry-after: *(\d+)/i.exec(head)?.[1] ?? 0);
  return { status: Number(head.slice(9, 12)), retryAfter, bodyAt: end + 4, length };
}

/** Takes the chunks of one answer and gives it once it is whole. */
function answerReader(): (chunk: Buffer) => Reply | undefined {
  const chunks: Buffer[] = [];
  let received = 0;
  let head: Head | undefined;
  return (chunk) => {
    chunks.push(chunk);
    received += chunk.length;
    head ??= headOf(Buffer.concat(chunks).toString('latin1'));
    if (head === undefined) return undefined;
    const { status, retryAfter, bodyAt, length } = head;
    if (length !== undefined)
      return received < bodyAt + length ? undefined : { status, retryAfter, body: bodyOf(chunks, bodyAt) };
    const last = Buffer.concat(chunks.slice(-2)).subarray(-5).toString('latin1');
    if (last !== '0\r\n\r\n') return undefined;
    return { status, retryAfter, body: withoutChunks(bodyOf(chunks, bodyAt)) };
  };
}

function bodyOf(chunks: readonly Buffer[], from: number): Buffer {
  return (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).subarray(from);
}

function withoutChunks(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const lineEnd = body.indexOf('\r\n', at);
    const length = Number.parseInt(body.subarray(at, lineEnd).toString('latin1'), 16);
    parts.push(body.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + length + 4;
  }
  return Buffer.concat(parts);
}

export function getRequest(path: string, authorization?: string): string {
  const credentials = authorization === undefined ? '' : `authorization: ${authorization}\r\n`;
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n${credentials}\r\n`;
}

export function formRequest(
  path: string,
  fields: Readonly<Record<string, string>>,
  authorization = '',
): string {
  const body = new URLSearchParams(fields).toString();
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'content-type: application/x-www-form-urlencoded',
    ...(authorization === '' ? [] : [`authorization: ${authorization}`]),
    `content-length: ${body.length}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
