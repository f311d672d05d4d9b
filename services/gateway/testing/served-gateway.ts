// A real gateway on a real socket for the tests, with stand-ins for identity and design-catalog that speak
// gRPC on the wire and answer what a test asks for, else `cannedAnswers`.
import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { CatalogService } from '@course-exchange/proto/catalog/v1';
import { AuthorizationService } from '@course-exchange/proto/identity/v1/authorization';
import { DiscoveryService } from '@course-exchange/proto/identity/v1/discovery';
import { TokenService } from '@course-exchange/proto/identity/v1/token';
import { errorStatuses } from '@course-exchange/rules/error-codes';
import { bindService, type Handlers, serveRpc } from '@course-exchange/runtime/grpc/server';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { carryContextAcrossAwaits } from '@course-exchange/runtime/process/request-context';
import { type AppOptions, createApp } from '../src/app.ts';
import { createCookies } from '../src/http/cookies.ts';
import { allRoutes } from '../src/routes/all-routes.ts';
import { type BrowserRouteDeps, startAnswer } from '../src/routes/browser.ts';
import { connectServices } from '../src/services.ts';

export type ServedGateway = Awaited<ReturnType<typeof serveGateway>>;

export interface ServedOptions extends Partial<Pick<AppOptions, 'issuer' | 'trustedProxies' | 'budgetMs'>> {
  readonly answers?: Partial<CannedAnswers>;
  readonly links?: Partial<BrowserRouteDeps['links']>;
}

export async function serveGateway(options: ServedOptions = {}) {
  carryContextAcrossAwaits();
  const lines: string[] = [];
  let made = 0;
  const logger = createLogger('gateway', 'debug', (line) => lines.push(line));
  const answers = { ...cannedAnswers, ...options.answers };
  const rpc = await serveRpc({
    services: [
      bindService(AuthorizationService, answers),
      bindService(TokenService, answers),
      bindService(DiscoveryService, answers),
      bindService(CatalogService, answers),
    ],
    errorStatuses,
    logger: createLogger('stand-in', 'error'),
    address: '127.0.0.1:0',
  });
  const target = `127.0.0.1:${rpc.port}`;
  const services = connectServices({
    identity: target,
    // Another name of it: metrics tell the two apart by theirs.
    catalog: `dns:///${target}`,
    timeoutMs: 10_000,
    now: Date.now,
  });
  const issuer = options.issuer ?? 'http://127.0.0.1';
  const none = { passwordReset: undefined, privacy: undefined, imprint: undefined, support: undefined };
  const browser: BrowserRouteDeps = {
    authorization: services.authorization,
    cookies: createCookies(issuer),
    links: { ...none, ...options.links },
    loginBudgetMs: 10_000,
    now: Date.now,
  };
  const app = createApp(allRoutes(services, browser), {
    issuer,
    logger,
    // Longer than a stalled machine: a test of too little time says how little.
    budgetMs: options.budgetMs ?? 20_000,
    trustedProxies: options.trustedProxies ?? [],
    startAnswer: (request) => startAnswer(browser, request),
    now: Date.now,
    makeRequestId: () => `00000000-0000-4000-8000-${String(made++).padStart(12, '0')}`,
  });
  await app.listen({ host: '127.0.0.1', port: 0, listenTextResolver: () => '' });
  const { port } = app.server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    server: app.server,
    /** Log lines so far. */
    lines,
    accessLine: (id: string): Record<string, unknown> | undefined =>
      lines
        .map((line) => JSON.parse(line))
        .find(({ message, requestId }) => message === 'request' && requestId === id),
    /** Over a new connection, with exactly this path. */
    ask: async (method: string, path: string, headers: OutgoingHttpHeaders = {}, body = '') => {
      const call = request({ port, method, path, headers, agent: false }).end(body);
      const [answer] = (await once(call, 'response')) as [IncomingMessage];
      return { status: answer.statusCode ?? 0, headers: answer.headers, body: await readAll(answer) };
    },
    /** The answer to `text` over a new connection, until the gateway closes it or `leave` resolves. */
    raw: async (text: string, leave?: Promise<void>): Promise<string> => {
      const socket = connect(port, '127.0.0.1').setEncoding('latin1');
      const parts: string[] = [];
      socket.on('data', (part: string) => parts.push(part)).write(text);
      void leave?.then(() => socket.destroy());
      await once(socket, 'close');
      return parts.join('');
    },
    close: async () => {
      await app.close();
      services.close();
      await rpc.stop(100);
    },
  };
}

type CannedAnswers = Handlers<typeof AuthorizationService> &
  Handlers<typeof TokenService> &
  Handlers<typeof DiscoveryService> &
  Handlers<typeof CatalogService>;

export const page = {
  clientName: 'Stable Diary',
  formToken: 'form-token',
  uiLocales: '',
};
export const account = { name: 'Marta Lindqvist', email: 'marta@example.org' };
export const interactionId = 'AAAAAAAAAAAAAAAAAAAAAA';

const redirect = { location: 'https://partner.example/cb?code=abc&state=x' };
const event =
  '{"id":"ZXZlbnQ","name":"Autumn Show","startDate":"2026-09-01T00:00:00.000Z","endDate":null,"updatedAt":null,"designCount":2}';

/** A calm day with one partner and one user. */
export const cannedAnswers: CannedAnswers = {
  beginAuthorization: async () => ({
    outcome: { case: 'interaction', value: { interactionId, interactionCookie: 'cookie', expiresIn: 1800 } },
  }),
  getInteraction: async () => ({ view: { case: 'login', value: { page, email: '' } } }),
  submitLogin: async () => ({ outcome: { case: 'accepted', value: { browserSession: 'session' } } }),
  submitAccountChoice: async () => ({ outcome: { case: 'next', value: {} }, sessionEnded: true }),
  submitConsent: async () => ({ outcome: { case: 'redirect', value: redirect } }),
  cancelAuthorization: async () => ({ outcome: { case: 'redirect', value: redirect } }),
  getBrowserSession: async () => ({ account, formToken: 'sign-out-token' }),
  endBrowserSession: async () => ({ ended: true }),
  exchangeToken: async () => ({
    accessToken: 'access',
    refreshToken: 'refresh',
    expiresIn: 900,
    scope: 'openid',
    idToken: 'identity',
  }),
  getUserInfo: async () => ({ sub: 'sub', email: account.email, emailVerified: true, name: account.name }),
  getDiscovery: async () => ({ issuer: 'http://127.0.0.1', responseTypesSupported: ['code'] }),
  getKeySet: async () => ({
    jwks: '{"keys":[{"kty":"RSA","use":"sig","alg":"RS256","kid":"k1","n":"n","e":"AQAB"}]}',
  }),
  listEvents: async function* () {
    yield { body: Buffer.from('{"items":[') };
    yield { body: Buffer.from(`${event}]}`) };
  },
  listDesigns: async function* () {
    yield { body: Buffer.from(`{"event":${event},"items":[]}`) };
  },
};
