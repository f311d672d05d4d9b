// The HTTP server: routes, headers, log lines and failure pages. Only /callback and /connect take part in the
// authorization-code flow.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import { describeError, PartnerFailure } from './failure.ts';
import {
  connectedPage,
  designsPage,
  disconnectedPage,
  eventsPage,
  failurePage,
  type Messages,
  messagesFor,
  refusedPage,
  welcomePage,
} from './pages.ts';
import type { Partner } from './partner.ts';
import { type Provider, withRequestId } from './provider.ts';
import { formTokenOf, requireFormToken } from './sessions.ts';

const stylesheet = readFileSync(new URL('style.css', import.meta.url));

const statuses = {
  connect_first: 401,
  reconnect: 401,
  unavailable: 503,
  not_found: 404,
  connection_failed: 400,
} as const;

export async function createApp(partner: Partner) {
  const app = fastify({
    loggerInstance: partner.logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: partner.newRequestId,
    bodyLimit: 16_384,
    requestTimeout: 30_000,
    routerOptions: { maxParamLength: 2_000 },
  });
  await app.register(cookie);
  await app.register(formbody);
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply);
    withRequestId(request.id, done);
  });
  app.addHook('onResponse', async (request, reply) => {
    // Not the address: the callback's query holds a code and a state.
    const route = request.routeOptions.url ?? 'unknown';
    request.log.info({ route, method: request.method, status: reply.statusCode }, 'page answered');
  });
  addRoutes(app, partner);
  app.get('/assets/style.css', async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=300').type('text/css; charset=utf-8').send(stylesheet),
  );
  app.setNotFoundHandler((request, reply) => fail(request, reply, new PartnerFailure('not_found')));
  app.setErrorHandler((error, request, reply) => fail(request, reply, error));
  return app;
}

function setHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.headers({
    'x-request-id': request.id,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'content-security-policy':
      "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  });
}

function fail(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const known = error instanceof PartnerFailure;
  const code = known ? error.code : 'internal';
  request.log.warn({ code, ...describeError(known ? error.cause : error) }, 'page failed');
  const retry = request.method === 'GET' ? localPath(request.url) : '/';
  reply.code(code === 'internal' ? statusOf(error) : statuses[code]);
  return sendPage(reply, failurePage(messagesOf(request), code, request.id, retry));
}

/** Such as a body that is too large. */
function statusOf(error: unknown): number {
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  return code.startsWith('FST_ERR_') ? statusCode : 500;
}

function addRoutes(app: FastifyInstance, partner: Partner): void {
  app.get('/', (request, reply) => home(partner, request, reply));
  app.get('/connect', (request, reply) => connect(partner, request, reply));
  app.get('/callback', (request, reply) => callback(partner, request, reply));
  app.get('/events', async (request, reply) => {
    const { identity } = partner.sessions.connected(request);
    return sendPage(reply, eventsPage(messagesOf(request), await partner.designApi.events(identity)));
  });
  app.get<{ Params: { eventId: string } }>('/events/:eventId/designs', async (request, reply) => {
    const { identity } = partner.sessions.connected(request);
    const { event, items } = await partner.designApi.designs(identity, request.params.eventId);
    return sendPage(reply, designsPage(messagesOf(request), event, items));
  });
  app.post('/refresh', async (request, reply) => {
    const session = partner.sessions.connected(request);
    requireFormToken(session, request.body);
    await partner.accessTokens.refresh(session.identity);
    return reply.redirect('/', 303);
  });
  app.post('/disconnect', async (request, reply) => disconnect(partner, request, reply));
  app.get('/disconnected', async (request, reply) => sendPage(reply, disconnectedPage(messagesOf(request))));
}

async function home(partner: Partner, request: FastifyRequest, reply: FastifyReply) {
  const { sessions, connections, provider } = partner;
  const messages = messagesOf(request);
  const reachable = await answersSoon(provider);
  const session = sessions.find(request);
  const connection = session?.identity && connections.find(session.identity);
  if (!session || !connection) return sendPage(reply, welcomePage(messages, reachable));
  return sendPage(reply, connectedPage(messages, connection, formTokenOf(session), reachable));
}

async function answersSoon(provider: Provider): Promise<boolean> {
  const answered = provider().then(
    () => true,
    () => false,
  );
  return Promise.race([answered, sleep(1_000, false, { ref: false })]);
}

/** Specification §5, steps 1 and 2. */
async function connect({ sessions, authorization }: Partner, request: FastifyRequest, reply: FastifyReply) {
  const wanted = queryOf(request).get('to');
  const destination = wanted === null ? '/events' : localPath(wanted);
  const session = sessions.find(request) ?? sessions.begin(request, reply);
  const url = await authorization.begin(session.id, destination);
  return reply.redirect(url.href, 303);
}

/** The browser returns from the provider (specification §5, steps 3 to 6). */
async function callback(partner: Partner, request: FastifyRequest, reply: FastifyReply) {
  const before = partner.sessions.find(request)?.id;
  const outcome = await partner.authorization.finish(before, queryOf(request));
  if (!outcome) return sendPage(reply, refusedPage(messagesOf(request)));
  partner.connections.put(outcome.identity, outcome.connection, partner.now());
  // A fresh session: an identifier planted before the login is worthless after it.
  const { id } = partner.sessions.begin(request, reply, outcome.identity);
  // Another tab of this browser may be at the provider's pages.
  if (before) partner.transactions.move(before, id);
  return reply.redirect(outcome.destination, 303);
}

/** All that a partner can, and must, do without a revocation endpoint. */
async function disconnect({ sessions, connections }: Partner, request: FastifyRequest, reply: FastifyReply) {
  const session = sessions.connected(request);
  requireFormToken(session, request.body);
  connections.remove(session.identity);
  sessions.endAll(session.identity, reply);
  return reply.redirect('/disconnected', 303);
}

/** Only our own paths: no open redirect. */
function localPath(path: string): string {
  return /^\/(?:events(?:\/[\w.~%-]+\/designs)?)?$/.test(path) ? path : '/';
}

/** The query, with repeated parameters kept. */
function queryOf(request: FastifyRequest): URLSearchParams {
  const mark = request.url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : request.url.slice(mark));
}

function messagesOf(request: FastifyRequest): Messages {
  return messagesFor(request.headers['accept-language']);
}

function sendPage(reply: FastifyReply, body: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(body);
}
