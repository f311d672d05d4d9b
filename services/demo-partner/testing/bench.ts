// A demo partner under test, a browser of one tab, which follows nothing by itself, and a small real issuer on loopback, which
// answers as a test tells it to and counts what it is asked.
import { constants, generateKeyPairSync, randomBytes, randomUUID, sign } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { createApp } from '../src/app.ts';
import { openDatabase } from '../src/database.ts';
import { createLogger, createPartner } from '../src/partner.ts';

export type Bench = Awaited<ReturnType<typeof createBench>>;

export async function createBench() {
  const directory = mkdtempSync(join(tmpdir(), 'demo-partner-'));
  const issuer = await startIssuer();
  const file = join(directory, 'partner.sqlite');
  const log: string[] = [];
  const clock = { now: Date.now() };
  const waitsMs: number[] = [];
  let database: DatabaseSync;
  const start = async () => {
    database = openDatabase(file);
    const registration = {
      ISSUER: issuer.issuer,
      CLIENT_ID: 'partner',
      CLIENT_SECRET: 'secret-canary',
      SCOPES: 'openid email profile',
      PUBLIC_URL: 'http://127.0.0.1:4000',
      TOKEN_ENCRYPTION_KEY: Buffer.alloc(32, 7),
    };
    const partner = createPartner(registration, {
      database,
      logger: createLogger('debug', { write: (line) => void log.push(line) }),
      now: () => clock.now,
      sleep: async (milliseconds) => waitsMs.push(milliseconds),
      randomBytes,
      random: () => 0.5,
      newRequestId: randomUUID,
    });
    return { partner, app: await createApp(partner) };
  };
  const bench = {
    issuer,
    file,
    log,
    clock,
    waitsMs,
    ...(await start()),
    /** Closes the app and starts it again over the same file. */
    restart: async (): Promise<void> => {
      await bench.app.close();
      database.close();
      Object.assign(bench, await start());
    },
    close: async (): Promise<void> => {
      await bench.app.close();
      database.close();
      issuer.close();
      rmSync(directory, { recursive: true });
    },
  };
  return bench;
}

export function createBrowser(bench: Bench) {
  const cookies = new Map<string, string>();
  const send = async (method: 'GET' | 'POST', url: string, payload?: string) => {
    const answer = await bench.app.inject({
      method,
      url,
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(payload === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(payload === undefined ? {} : { payload }),
    });
    for (const { name, value } of answer.cookies) cookies.set(name, value);
    return { status: answer.statusCode, location: answer.headers.location ?? '', text: answer.body };
  };
  const get = (url: string) => send('GET', url);
  /** Begins a flow; the issuer will put its nonce into the ID token. */
  const begin = async (to?: string) => {
    const { location } = await get(to === undefined ? '/connect' : `/connect?to=${encodeURIComponent(to)}`);
    const query = new URL(location).searchParams;
    bench.issuer.nonce = query.get('nonce') ?? '';
    return query;
  };
  return {
    cookies,
    get,
    begin,
    connect: async (to?: string) => get(`/callback?code=code-canary&state=${(await begin(to)).get('state')}`),
    post: async (url: string) => {
      const token = /name="form_token" value="([^"]+)"/.exec((await get('/')).text)?.[1] ?? '';
      return send('POST', url, `form_token=${token}`);
    },
    send,
  };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** In seconds. */
  readonly retryAfter?: number;
}

export interface TestIssuer {
  readonly issuer: string;
  readonly requests: { readonly path: string; readonly body: URLSearchParams; readonly basic: string }[];
  /** The nonce that goes into the next ID token. */
  nonce: string;
  claims: Record<string, unknown>;
  algorithm: 'RS256' | 'PS256';
  publishedIssuer: string;
  /** What the next token requests do instead of answering well. */
  tokenFault: Answer | 'drop' | undefined;
  /** Token requests wait for it. */
  tokenGate: Promise<void>;
  api: (path: string, token: string) => Answer;
  readonly count: (path: string) => number;
  readonly close: () => void;
}

const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });

async function startIssuer(): Promise<TestIssuer> {
  const server = createServer((request, response) => void serve(state, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state: TestIssuer = {
    issuer,
    requests: [],
    nonce: '',
    claims: {},
    algorithm: 'RS256',
    publishedIssuer: issuer,
    tokenFault: undefined,
    tokenGate: Promise.resolve(),
    api: () => ({ status: 200, body: { items: [] } }),
    count: (path) => state.requests.filter((request) => request.path === path).length,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return state;
}

async function serve(state: TestIssuer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = Buffer.concat(await Array.fromAsync(request)).toString();
  const path = new URL(request.url ?? '/', state.issuer).pathname;
  const authorization = request.headers.authorization ?? '';
  const basic = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
  state.requests.push({ path, body: new URLSearchParams(body), basic });
  if (path === '/token') {
    await state.tokenGate;
    if (state.tokenFault === 'drop') return void request.socket.destroy();
  }
  const { status, body: answered, retryAfter } = answer(state, path, authorization.replace('Bearer ', ''));
  const challenge = status === 401 ? { 'www-authenticate': 'Basic realm="x"' } : {};
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
  response.writeHead(status, { 'content-type': 'application/json', ...challenge });
  response.end(JSON.stringify(answered));
}

function answer(state: TestIssuer, path: string, bearer: string): Answer {
  if (path === '/.well-known/openid-configuration') return { status: 200, body: discovery(state) };
  if (path === '/jwks') {
    const jwk = { ...keys.publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig' };
    return { status: 200, body: { keys: [jwk] } };
  }
  if (path !== '/token') return state.api(path, bearer);
  if (typeof state.tokenFault === 'object') return state.tokenFault;
  const grant = state.requests.at(-1)?.body.get('grant_type');
  const number = state.count('/token');
  return {
    status: 200,
    body: {
      access_token: `access-canary-${number}`,
      refresh_token: `refresh-canary-${number}`,
      token_type: 'Bearer',
      expires_in: 900,
      scope: 'openid email profile',
      ...(grant === 'authorization_code' ? { id_token: idToken(state) } : {}),
    },
  };
}

function discovery({ issuer, publishedIssuer }: TestIssuer): unknown {
  return {
    issuer: publishedIssuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    // Wider than our contract on purpose: the client has to insist on RS256 by itself.
    id_token_signing_alg_values_supported: ['RS256', 'PS256', 'HS256', 'none'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256', 'plain'],
  };
}

function idToken({ issuer, nonce, claims: changes, algorithm }: TestIssuer): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    ...{ iss: issuer, sub: 'user-1', aud: 'partner', token_use: 'id_token', iat: now, exp: now + 900, nonce },
    ...{ email: 'anna@example.test', email_verified: true, name: 'Anna Reiter' },
    ...changes,
  };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg: algorithm, kid: 'k1', typ: 'JWT' })}.${part(claims)}`;
  const padding = algorithm === 'PS256' ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING;
  const key = { key: keys.privateKey, padding, saltLength: 32 };
  return `${input}.${sign('sha256', Buffer.from(input), key).toString('base64url')}`;
}
