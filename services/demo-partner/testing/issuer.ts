// A small real issuer on loopback for the tests: signs what a test tells it to, and counts what it is asked.
import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export interface TestIssuer {
  readonly issuer: string;
  readonly requests: { readonly path: string; readonly body: URLSearchParams; readonly basic: string }[];
  /** The nonce that goes into the next ID token. */
  nonce: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  claims: Record<string, unknown>;
  algorithm: 'RS256' | 'PS256' | 'none' | 'HS256';
  /** Signs with a key that the key set does not publish. */
  foreignKey: boolean;
  publishedIssuer: string;
  expiresIn: number;
  /** What the next token requests do instead of answering well. */
  tokenFault: Answer | 'drop' | undefined;
  /** Token requests wait for it. */
  tokenGate: Promise<void>;
  api: (path: string, token: string) => Answer;
  readonly count: (path: string) => number;
  readonly close: () => void;
}

const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });

export async function startIssuer(now: () => number): Promise<TestIssuer> {
  const server = createServer((request, response) => void serve(state, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state: TestIssuer = {
    issuer,
    requests: [],
    nonce: '',
    now,
    claims: {},
    algorithm: 'RS256',
    foreignKey: false,
    publishedIssuer: issuer,
    expiresIn: 900,
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
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const path = new URL(request.url ?? '/', state.issuer).pathname;
  const authorization = request.headers.authorization ?? '';
  state.requests.push({
    path,
    body: new URLSearchParams(Buffer.concat(chunks).toString()),
    basic: Buffer.from(authorization.replace('Basic ', ''), 'base64').toString(),
  });
  if (path === '/token') {
    await state.tokenGate;
    if (state.tokenFault === 'drop') return void request.socket.destroy();
  }
  const { status, body } = answer(state, path, authorization.replace('Bearer ', ''));
  const challenge = status === 401 ? { 'www-authenticate': 'Basic realm="x"' } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...challenge }).end(JSON.stringify(body));
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
      expires_in: state.expiresIn,
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

function idToken(state: TestIssuer): string {
  const now = Math.floor(state.now() / 1000);
  const claims = {
    iss: state.issuer,
    sub: 'user-1',
    aud: 'partner',
    email: 'anna@example.test',
    email_verified: true,
    name: 'Anna Reiter',
    token_use: 'id_token',
    iat: now,
    exp: now + 900,
    nonce: state.nonce,
    ...state.claims,
  };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part({ alg: state.algorithm, kid: 'k1', typ: 'JWT' })}.${part(claims)}`;
  return `${input}.${signature(state, input)}`;
}

function signature({ algorithm, foreignKey }: TestIssuer, input: string): string {
  if (algorithm === 'none') return '';
  // HS256 with the public key as its secret: the classic confusion.
  const pem = keys.publicKey.export({ format: 'pem', type: 'spki' });
  if (algorithm === 'HS256') return createHmac('sha256', pem).update(input).digest('base64url');
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
  const key: KeyObject = foreignKey ? foreign.privateKey : keys.privateKey;
  return sign('sha256', Buffer.from(input), algorithm === 'PS256' ? { key, ...pss } : key).toString(
    'base64url',
  );
}
