// Bytes that no HTTP client sends: never a 5xx, never a hang, never more than a one-field body, and the
// server serves the next caller.
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { send } from '../support/http.ts';
import { runningStack } from '../support/running-stack.ts';

const { issuer } = runningStack();
const { host } = new URL(issuer);

afterEach(async () => {
  expect((await send(`${issuer}/.well-known/openid-configuration`)).status).toBe(200);
});

function refusedClearly(answer: RawAnswer): void {
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(Object.keys(JSON.parse(answer.body))).toEqual(['error']);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('x-request-id')).toMatch(/./);
}

test('garbage is refused with a one-field body and the connection is closed [R25.1, R25.3]', async () => {
  const answer = await exchangeBytes(issuer, ['\x00\x01\x02 hello \r\n\r\n']);
  refusedClearly(answer);
  expect(answer.closed).toBe(true);
});

test('an oversized header is refused', async () => {
  const answer = await exchangeBytes(issuer, [
    `GET /api/events HTTP/1.1\r\nHost: ${host}\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`,
  ]);
  refusedClearly(answer);
});

test('an oversized form is refused without being read to its end', async () => {
  const answer = await exchangeBytes(issuer, [
    `POST /token HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\n` +
      `Content-Length: 10000000\r\n\r\n`,
    'grant_type=authorization_code&code='.padEnd(300_000, 'x'),
  ]);
  refusedClearly(answer);
});

test('conflicting lengths are refused and the connection is closed', async () => {
  for (const lengths of [
    'Content-Length: 4\r\nContent-Length: 5\r\n',
    'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n',
    'Content-Length: -4\r\n',
    'Transfer-Encoding: chunked, identity\r\n',
  ]) {
    const answer = await exchangeBytes(issuer, [
      `POST /token HTTP/1.1\r\nHost: ${host}\r\n${lengths}\r\na=bc`,
    ]);
    refusedClearly(answer);
    expect(answer.closed).toBe(true);
  }
});

test('what follows a refused request on the same connection is not answered as a request of its own', async () => {
  const answer = await exchangeBytes(issuer, [
    `POST /token HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n` +
      `GET /.well-known/openid-configuration HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
  ]);
  expect(answer.body).not.toContain('token_endpoint');
});

test('a request without Host is refused; a foreign Host does not change the issuer', async () => {
  refusedClearly(await exchangeBytes(issuer, ['GET /.well-known/openid-configuration HTTP/1.1\r\n\r\n']));
  const foreign = await exchangeBytes(issuer, [
    'GET /.well-known/openid-configuration HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
  ]);
  expect(foreign.body).toContain(`"${issuer}"`);
  expect(foreign.body).not.toContain('evil.example');
});

test('two Host headers are refused, even where both say the same [R25.11]', async () => {
  for (const second of [host, 'evil.example', '']) {
    const answer = await exchangeBytes(issuer, [
      `GET /.well-known/openid-configuration HTTP/1.1\r\nHost: ${host}\r\nHOST: ${second}\r\n\r\n`,
    ]);
    refusedClearly(answer);
    expect([answer.status, answer.body]).toEqual([400, '{"error":"invalid_request"}']);
  }
});

test('requests far ahead of their answers end the connection, a few are answered in their order', async () => {
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const flood = await exchangeBytes(issuer, [ask('/.well-known/jwks.json').repeat(20_000)]);
  expect(flood.closed).toBe(true);
  expect(flood.body.split('HTTP/1.1 200').length).toBeLessThan(100);
  const few = await exchangeBytes(issuer, [ask('/.well-known/jwks.json').repeat(7) + ask('/nowhere')]);
  expect(few.body.match(/HTTP\/1\.1 \d+/g)).toEqual([...Array(6).fill('HTTP/1.1 200'), 'HTTP/1.1 404']);
});

test('a header that comes slowly does not keep others waiting, and a silent connection is not an error', async () => {
  const parts = ['GET /api/ev', 'ents HTTP/1.1\r\nHo', `st: ${host}\r\n`, '\r\n'];
  let served = 0;
  const slow = await exchangeBytes(issuer, parts, async () => {
    const others = Array.from({ length: 20 }, () => send(`${issuer}/.well-known/jwks.json`));
    for (const { status } of await Promise.all(others)) if (status === 200) served += 1;
  });
  // Between two parts of the header.
  expect(served).toBe(60);
  expect(slow.status).toBe(401);
});

test('methods that HTTP does not know, absolute and asterisk targets are refused or routed, never a 5xx', async () => {
  for (const line of [
    'BREW /api/events HTTP/1.1',
    'CONNECT /api/events HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    `GET http://${host}/api/events HTTP/1.1`,
    'GET //api/events HTTP/1.1',
    'GET /api/../api/events HTTP/1.1',
    'GET /api/events HTTP/9.9',
    'PRI * HTTP/2.0',
  ]) {
    const answer = await exchangeBytes(issuer, [`${line}\r\nHost: ${host}\r\nConnection: close\r\n\r\n`]);
    expect(answer.status, line).toBeLessThan(500);
    expect(answer.closed, line).toBe(true);
  }
});

test('a method that HTTP does not know is 405 with Allow on a known route, and 404 elsewhere', async () => {
  const ask = (path: string) => exchangeBytes(issuer, [`FOO ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`]);
  for (const [path, method] of [
    ['/api/events', 'GET'],
    ['/token', 'POST'],
    ['/authorize?client_id=x', 'GET'],
    ['/api/events/abc/designs', 'GET'],
  ] as const) {
    const answer = await ask(path);
    expect([path, answer.status, answer.body]).toEqual([path, 405, '{"error":"method_not_allowed"}']);
    expect(answer.headers.get('allow')?.split(/, ?/)).toContain(method);
    expect(answer.closed).toBe(true);
  }
  const unknown = await ask('/nowhere');
  expect([unknown.status, unknown.body]).toEqual([404, '{"error":"not_found"}']);
  expect(unknown.headers.get('allow')).toBeUndefined();
});

test('an Upgrade and an unknown Expect are not followed', async () => {
  const upgrade = await exchangeBytes(issuer, [
    `GET /api/events HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  ]);
  expect(upgrade.status).not.toBe(101);
  expect(upgrade.status).toBeLessThan(500);
  const expectation = await exchangeBytes(issuer, [
    `POST /token HTTP/1.1\r\nHost: ${host}\r\nExpect: a-miracle\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  ]);
  expect(expectation.status).toBeGreaterThanOrEqual(400);
  expect(expectation.status).toBeLessThan(500);
});

type RawAnswer = {
  /** 0 when nothing that looks like HTTP came back. */
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Whether the server ended the connection. */
  readonly closed: boolean;
};

/** Milliseconds for the first byte of an answer, and those of silence after which no more comes. */
const [longestWaitMs, silenceMs] = [20_000, 1_500];

/** Writes each of `parts`, with `between` done before the next, and reads until the server closes or no more comes. */
function exchangeBytes(
  issuer: string,
  parts: readonly (string | Buffer)[],
  between: () => Promise<void> = async () => {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(issuer);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname);
    const finish = (closed: boolean): void => {
      clearTimeout(silence);
      socket.destroy();
      resolve(parse(Buffer.concat(chunks).toString('latin1'), closed));
    };
    let silence = setTimeout(() => finish(false), longestWaitMs);
    socket.on('data', (chunk) => {
      chunks.push(Buffer.from(chunk));
      clearTimeout(silence);
      silence = setTimeout(() => finish(false), silenceMs);
    });
    socket.on('close', () => finish(true));
    socket.on('error', () => finish(true));
    writeEach(parts, between, (part) => socket.write(part)).catch(() => finish(false));
  });
}

async function writeEach(
  parts: readonly (string | Buffer)[],
  between: () => Promise<void>,
  write: (part: string | Buffer) => void,
): Promise<void> {
  for (const [index, part] of parts.entries()) {
    if (index > 0) await between();
    write(part);
  }
}

function parse(text: string, closed: boolean): RawAnswer {
  const [head = '', ...bodyParts] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? 0),
    headers: new Map(headers),
    body: bodyParts.join('\r\n\r\n'),
    closed,
  };
}
