// More work than can be ended: refreshes and lists that hang fill one class, and what is refused is refused at once; the other
// classes and other networks are served all the while (R14.7).
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { nameSubject } from '@course-exchange/runtime/process/request-context';
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { cannedAnswers, serveGateway } from '../../testing/served-gateway.ts';
import { createApp } from '../app.ts';
import { htmlAnswer, type Route } from './route.ts';

/** Held lists and refreshes end when it is resolved. */
let gate: PromiseWithResolvers<void>;
/** Refresh tokens that reached identity. */
const exchanged: string[] = [];
const sockets = new Set<Socket>();
const gateway = await serveGateway({
  // Nothing of what is held ends by itself.
  budgetMs: 60_000,
  trustedProxies: ['127.0.0.1'],
  answers: {
    listEvents: async function* (_request, call) {
      if (call.bearer === 'held') await gate.promise;
      yield* cannedAnswers.listEvents({} as never, call);
    },
    exchangeToken: async (request, call) => {
      exchanged.push(request.refreshToken);
      nameSubject({ client: request.clientId });
      if (request.refreshToken.startsWith('held')) await gate.promise;
      return cannedAnswers.exchangeToken(request, call);
    },
  },
});
afterAll(() => gateway.close());
beforeEach(() => {
  gate = Promise.withResolvers();
});
afterEach(() => {
  gate.resolve();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});

const form = 'Content-Type: application/x-www-form-urlencoded';

interface Held {
  readonly socket: Socket;
  /** What has been answered so far. */
  answer: string;
}

const from = (address: string, request: string) =>
  request.replace('\r\n', `\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n`);

/** Begins `request` from an address of `network`, and waits for nothing. */
function hold(request: string, network: number, address = `10.0.${network}.7`): Held {
  const held = { socket: connect(gateway.port, '127.0.0.1'), answer: '' };
  sockets.add(held.socket.on('error', () => held.socket.destroy()));
  held.socket.setEncoding('latin1').on('data', (text: string) => {
    held.answer += text;
  });
  held.socket.write(from(address, request));
  return held;
}

const refreshOf = (token: string) => {
  const body = `grant_type=refresh_token&refresh_token=${token}`;
  return bodyless.replace('10', String(body.length)) + body;
};
const bodyless = `POST /token HTTP/1.1\r\n${form}\r\nContent-Length: 10\r\n\r\n`;
const heldRefresh = refreshOf('held');
const heldList = 'GET /api/events HTTP/1.1\r\nAuthorization: Bearer held\r\n\r\n';

async function ask(path: string, network: number, form?: Record<string, string>): Promise<number> {
  const headers = { 'x-forwarded-for': `10.0.${network}.7`, authorization: 'Bearer other' };
  const post = form && { method: 'POST', body: new URLSearchParams(form) };
  const answer = await fetch(`${gateway.origin}${path}`, { ...post, headers, redirect: 'manual' });
  await answer.arrayBuffer();
  return answer.status;
}

const refresh = (network: number) =>
  ask('/token', network, { grant_type: 'refresh_token', refresh_token: 'x' });
const list = (network: number) => ask('/api/events', network);

/** Holds more of `request` from each network than its capacity; all that were answered were refused. */
async function fill(request: string, networks: readonly number[], each: number): Promise<Held[]> {
  const all: Held[] = [];
  for (const network of networks) {
    const held = Array.from({ length: each }, () => hold(request, network));
    all.push(...held);
    await expect.poll(() => held.some(({ answer }) => answer.endsWith('}'))).toBe(true);
  }
  for (const { answer } of all.filter((held) => held.answer !== '')) {
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toMatch(/\r\nretry-after: [1-5]\r\n/);
    expect(answer).toContain('{"error":"temporarily_unavailable"}');
  }
  return all;
}

async function serve(...routes: readonly Route[]): Promise<string> {
  const app = createApp(routes, {
    issuer: 'http://127.0.0.1',
    logger: createLogger('gateway', 'error', () => {}),
    budgetMs: 2_000,
    trustedProxies: [],
    startAnswer: () => htmlAnswer(404, ''),
    now: Date.now,
    makeRequestId: () => 'made',
  });
  onTestFinished(() => app.close());
  return app.listen({ host: '127.0.0.1', port: 0, listenTextResolver: () => '' });
}

const sound: Route = {
  method: 'GET',
  path: '/sound',
  profile: 'page',
  answer: async () => htmlAnswer(200, 'sound'),
};

test('a page that cannot be rendered releases its capacity', async () => {
  const fail = () => {
    throw new Error('unforeseen');
  };
  const origin = await serve(sound, {
    ...sound,
    path: '/broken',
    answer: async () => fail(),
    renderError: fail,
  });
  // As many as the class has in work at the same time.
  for (let nth = 0; nth < 64; nth += 1) {
    const answer = await fetch(`${origin}/broken`);
    expect([answer.status, await answer.text()]).toEqual([500, '{"error":"server_error"}']);
  }
  expect((await fetch(`${origin}/sound`)).status).toBe(200);
});

test('a route of each profile is admitted [R14.7, R14.11]', async () => {
  // Less time than an admission needs.
  const routes = (['page', 'public', 'resource', 'token'] as const).map(
    (profile): Route => ({ ...sound, path: `/${profile}`, profile, budgetMs: 500 }),
  );
  const origin = await serve(...routes);
  for (const { path } of routes) expect((await fetch(`${origin}${path}`)).status, path).toBe(503);
});

test('bodies that never arrive hold no capacity, not even their own network’s [R14.7]', async () => {
  for (const network of [1, 2, 3]) for (let i = 0; i < 300; i += 1) hold(bodyless, network);
  for (const network of [1, 2, 3, 4]) expect(await refresh(network)).toBe(200);
});

test('refreshes that hang fill only the capacity of their network and class [R14.7, R14.10]', async () => {
  const held = await fill(heldRefresh, [1], 700);
  await expect.poll(() => held.filter(({ answer }) => answer === '').length).toBe(512);
  // A flood does not fill the log: after ten lines comes their number.
  expect(gateway.lines.filter((line) => line.includes('answer failed')).length).toBeLessThanOrEqual(10);
  expect([await list(1), await ask('/userinfo', 1), await ask('/authorize', 1)]).toEqual([200, 200, 303]);
  const other = refresh(2);
  gate.resolve();
  expect(await other).toBe(200);
  await expect.poll(() => refresh(1)).toBe(200);
});

test('addresses of one /48 are one network [R14.10]', async () => {
  const held = Array.from({ length: 600 }, (_, nth) =>
    hold(heldRefresh, 1, `2001:db8:0:${nth.toString(16)}::1`),
  );
  const admitted = () => held.filter(({ answer }) => answer === '').length;
  await expect.poll(admitted).toBeLessThanOrEqual(512);
  // No more are refused.
  await sleep(300);
  expect(admitted()).toBe(512);
});

test('a queued request whose client goes away is never sent to a service [R14.7]', async () => {
  await fill(heldRefresh, [1], 700);
  const gone = hold(heldRefresh.replace('=held', '=gone'), 2);
  await once(gone.socket, 'connect');
  // Answered after it: the request that goes away has come.
  await list(2);
  // The gateway closes its end once it has seen this one's.
  gone.socket.end();
  await once(gone.socket, 'close');
  const last = refresh(2);
  gate.resolve();
  expect(await last).toBe(200);
  await expect.poll(() => refresh(1)).toBe(200);
  expect(exchanged).not.toContain('gone');
});

test('lists that hang leave the capacity of tokens, pages and user-info free, and end once they can [R14.7]', async () => {
  const held = await fill(heldList, [1, 2, 3, 4], 200);
  for (const network of [1, 2, 3, 4, 5])
    expect([await refresh(network), await ask('/authorize', network)]).toEqual([200, 303]);
  gate.resolve();
  await expect.poll(() => held.filter(({ answer }) => answer === '').length).toBe(0);
  expect(held.filter(({ answer }) => answer.startsWith('HTTP/1.1 200 ')).length).toBeGreaterThan(100);
  expect(await list(4)).toBe(200);
});

test('what has no route, or another method, fills the capacity of its network and class alone [R14.10, R14.11]', async () => {
  const behind = (line: string) => from('10.0.1.7', `${line} HTTP/1.1\r\n\r\n`);
  // Their answers wait for that of the refresh before them.
  for (let i = 0; i < 300; i += 1) hold(heldRefresh + behind(i % 2 ? 'GET /nowhere' : 'PUT /token'), 1);
  await expect.poll(() => ask('/nowhere', 1)).toBe(503);
  const discovery = '/.well-known/openid-configuration';
  expect([await ask('/nowhere', 2), await ask(discovery, 1), await list(1)]).toEqual([404, 200, 200]);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => ask('/nowhere', 1)).toBe(404);
});

test('of a connection two requests run, 32 wait unstarted, and one more ends it [R14.11]', async () => {
  const one = refreshOf('held once more');
  const refreshes = (count: number) => hold(one + from('10.0.3.7', one).repeat(count - 1), 3);
  const full = refreshes(34);
  const begun = () => exchanged.filter((token) => token === 'held once more').length;
  await expect.poll(begun).toBe(2);
  await once(refreshes(35).socket, 'close');
  gate.resolve();
  await expect.poll(() => full.answer.split('HTTP/1.1 200 ').length).toBe(35);
});
