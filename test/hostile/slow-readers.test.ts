// Clients that ask for much and take nothing, or begin a request and never end it: what the gateway keeps for them is
// bounded, in bytes and in time, and all other clients are served.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type ServedGateway, serveGateway } from '../../services/gateway/testing/served-gateway.ts';

const part = Buffer.alloc(256 * 1024, ' ');
const longBytes = 128 * part.length;
const long = 'GET /api/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer long\r\n\r\n';
const form = 'Content-Type: application/x-www-form-urlencoded';

let gateway: ServedGateway;
/** Has one connection, begun before the other tests since its form ends after 12 s. */
let unread: ServedGateway;
let unfinished: Promise<Reader>;
beforeAll(async () => {
  // The gateway looks every five seconds what was taken; here whenever a test says so.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  gateway = await serveGateway({
    budgetMs: 10_000,
    answers: {
      listEvents: async function* (_request, { bearer }) {
        if (bearer !== 'long') yield { body: Buffer.from('{"items":[]}') };
        else for (let sent = 0; sent < longBytes; sent += part.length) yield { body: part };
      },
    },
  });
  unread = await serveGateway();
  const head = `POST /token HTTP/1.1\r\nHost: x\r\n${form}\r\nContent-Length: 10\r\n\r\n`;
  unfinished = beginReading(head, unread.port);
});
afterAll(async () => {
  await Promise.all([gateway.close(), unread.close()]);
  vi.useRealTimers();
});

interface Reader {
  readonly socket: Socket;
  readonly head: string;
}

/** Sends `request` and reads no more than the first bytes of the answer. */
async function beginReading(request: string, port = gateway.port): Promise<Reader> {
  const socket = connect(port, '127.0.0.1').on('error', () => socket.destroy());
  socket.write(request);
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  return { socket, head: bytes.toString('latin1').split('\r\n\r\n', 1)[0] ?? '' };
}

/** Takes what is left, with a pause after each piece; the bytes that came in all. */
async function readOn({ socket }: Reader, pauseMs = () => 0): Promise<number> {
  socket.on('data', () => {
    if (socket.bytesRead >= longBytes) socket.end();
    else if (pauseMs() > 0) {
      socket.pause();
      setTimeout(() => socket.resume(), pauseMs());
    }
  });
  socket.resume();
  // Not by `once`, which a reset would make reject: a gateway that ends a connection resets it.
  if (!socket.closed) await new Promise((closed) => socket.once('close', closed));
  return socket.bytesRead;
}

/** How many connections the gateway has ended, since nothing of their answers was taken. */
const endedReaders = () => gateway.lines.filter((line) => line.includes('"answer not read"')).length;

/** Status and length of a list that is read to its end. */
async function listEvents(token: string): Promise<[number, number]> {
  const answer = await fetch(`${gateway.origin}/api/events`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return [answer.status, (await answer.arrayBuffer()).byteLength];
}

test('readers that take nothing hold a bounded part of the memory, and none for longer than 25 s (R14.7, R14.10)', async () => {
  const slow = await beginReading(long);
  // Almost nothing at first: the others take long to begin on a busy machine.
  let pauseMs = 1_000;
  const slowBytes = readOn(slow, () => pauseMs);
  const [held, refused]: [Reader[], Reader[]] = [[], []];
  // One after the other: a busy machine could not serve twelve of these lists in the time of one request.
  for (let begun = 0; begun < 12; begun += 1) {
    const reader = await beginReading(long);
    const [, status] = reader.head.split(' ');
    expect(status).toMatch(/200|503/);
    (status === '200' ? held : refused).push(reader);
  }
  expect(held.length).toBeGreaterThan(0);
  expect(refused.length).toBeGreaterThanOrEqual(5);
  for (const { head } of refused) expect(head).toMatch(/\r\nretry-after: [1-5](\r|$)/);
  expect(await listEvents('short')).toEqual([200, 12]);

  pauseMs = 5;
  for (let seconds = 5; seconds <= 25; seconds += 5) {
    expect(endedReaders()).toBe(0);
    // Bytes that the client sends are no progress.
    for (const { socket } of held) socket.write('\r\n');
    // The kernel holds megabytes of the answer, and the gateway sees only what the kernel takes.
    const taken = slow.socket.bytesRead;
    await expect.poll(() => slow.socket.bytesRead).toBeGreaterThan(taken + 12 * part.length);
    vi.advanceTimersByTime(5_000);
  }
  pauseMs = 0;
  expect(endedReaders()).toBe(held.length);
  for (const reader of held) expect(await readOn(reader)).toBeLessThan(longBytes);
  for (const { socket } of refused) socket.destroy();
  expect(await slowBytes).toBeGreaterThan(longBytes);
  expect(await listEvents('long')).toEqual([200, longBytes]);
});

test('forms that do not end hold a bounded part of the memory, and everybody else is served (R14.7, R14.10)', async () => {
  let refused = 0;
  const sockets = Array.from({ length: 640 }, () => {
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => socket.destroy());
    socket.on('data', (bytes: Buffer) => {
      if (bytes.toString('latin1').startsWith('HTTP/1.1 503 ')) refused += 1;
    });
    const head = `POST /token HTTP/1.1\r\nHost: x\r\n${form}\r\nContent-Length: 65000\r\n\r\n`;
    socket.write(head + 'x'.repeat(64_000));
    return socket;
  });
  // 32 MiB are 585 of them.
  await expect.poll(() => refused).toBeGreaterThanOrEqual(55);
  expect(await listEvents('short')).toEqual([200, 12]);
  for (const socket of sockets) socket.destroy();
  const whole = { method: 'POST', body: new URLSearchParams({ grant_type: 'x'.repeat(60_000) }) };
  const statusOf = async () => (await fetch(`${gateway.origin}/token`, whole)).status;
  await expect.poll(statusOf).toBe(200);
});

test('requests one behind the other, whose client goes away, leave nothing counted', async () => {
  for (let round = 0; round < 4; round++) (await beginReading(long.repeat(3))).socket.destroy();
  await expect.poll(() => listEvents('long')).toEqual([200, longBytes]);
});

/** Bounds the gateway's connections until the test ends. */
function boundConnections(most: number): void {
  const { server } = gateway;
  const before = server.maxConnections;
  expect(before).toBeGreaterThanOrEqual(8_192);
  server.maxConnections = most;
  onTestFinished(() => {
    server.maxConnections = before;
  });
}

/** True when a stranger who asks once is answered. */
async function isServed(): Promise<boolean> {
  const asked = beginReading('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n').catch(() => undefined);
  const reader = await Promise.race([asked, sleep(500, undefined)]);
  reader?.socket.destroy();
  return reader !== undefined;
}

test('connections are bounded, above what a gateway serves, and idle ones close for others', async () => {
  const idle = await Promise.all(
    [1, 2, 3].map(() => beginReading('GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n')),
  );
  boundConnections(3);
  onTestFinished(() => {
    for (const { socket } of idle) socket.destroy();
  });
  await expect.poll(isServed).toBe(true);
});

test.each([
  ['a body', `POST /token HTTP/1.1\r\nHost: x\r\n${form}\r\nContent-Length: 10\r\n\r\na`],
  ['a header', 'GET /nowhere HTTP/1.1\r\nHost'],
  ['nothing', ''],
])(
  'requests of which %s was sent, begun again whenever they are cut, block no other client',
  async (_what, sent) => {
    const answered = await beginReading(long);
    // Now and then a piece, so that it is a reader who takes its time, and none who takes nothing.
    let pauseMs = 2_000;
    const whole = readOn(answered, () => pauseMs);
    boundConnections(8);
    const open = new Set<Socket>();
    let isOver = false;
    const begin = (): void => {
      if (isOver) return;
      const socket = connect(gateway.port, '127.0.0.1', () => socket.write(sent));
      open.add(socket);
      socket
        .on('error', () => {})
        .once('close', () => {
          open.delete(socket);
          setTimeout(begin, 5);
        });
    };
    onTestFinished(() => {
      isOver = true;
      for (const socket of [...open, answered.socket]) socket.destroy();
    });
    for (let nth = 0; nth < 8; nth++) begin();
    await sleep(500);
    let served = 0;
    const ask = async () => {
      if (await isServed()) served += 1;
      return served;
    };
    await expect.poll(ask, { timeout: 60_000, interval: 10 }).toBeGreaterThanOrEqual(20);
    pauseMs = 0;
    expect(await whole).toBeGreaterThan(longBytes);
  },
);

test('a form that does not end is answered with 408', async () => {
  expect((await unfinished).head).toMatch(/^HTTP\/1\.1 408 /);
});
