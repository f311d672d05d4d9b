// The HTTP server: headers of every answer, one log line for each request, one page for each failure.
import { describeError, logText } from '@course-exchange/runtime/logger';
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { withRequestId } from './outgoing.ts';
import { failurePage } from './pages/outcome-page.ts';
import { stylesheet } from './pages/stylesheet.ts';
import type { Partner } from './partner.ts';
import { PartnerFailure } from './partner-failure.ts';
import { getCallback } from './routes/get-callback.ts';
import { getConnect, localPath } from './routes/get-connect.ts';
import { getDesigns } from './routes/get-designs.ts';
import { getEvents } from './routes/get-events.ts';
import { getHome } from './routes/get-home.ts';
import { postDisconnect } from './routes/post-disconnect.ts';
import { postRefresh } from './routes/post-refresh.ts';
import { messagesOf, page } from './wire.ts';

const statuses = {
  connect_first: 401,
  reconnect: 401,
  unavailable: 503,
  not_found: 404,
  connection_failed: 400,
} as const;

export async function createApp(partner: Partner): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    genReqId: partner.newRequestId,
    bodyLimit: 16_384,
    requestTimeout: 30_000,
    routerOptions: { maxParamLength: 2_000 },
  });
  await app.register(cookie);
  await app.register(formbody);
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply);
    // From here on every request to the provider carries this page request's id.
    withRequestId(request.id, done);
  });
  app.addHook('onResponse', async (request, reply) => logAnswer(partner, request, reply));
  for (const route of [
    getHome,
    getConnect,
    getCallback,
    getEvents,
    getDesigns,
    postRefresh,
    postDisconnect,
  ]) {
    route(app, partner);
  }
  app.get('/assets/style.css', async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=300').type('text/css; charset=utf-8').send(stylesheet),
  );
  app.setNotFoundHandler((request, reply) => fail(partner, request, reply, new PartnerFailure('not_found')));
  app.setErrorHandler((error, request, reply) => fail(partner, request, reply, error));
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

/** The route's pattern instead of the address: the callback's query holds a code and a state. */
function logAnswer({ logger }: Partner, request: FastifyRequest, reply: FastifyReply): void {
  logger.info('page answered', {
    requestId: logText(request.id),
    route: logText(request.routeOptions.url ?? 'unknown'),
    method: logText(request.method),
    status: reply.statusCode,
  });
}

function fail(partner: Partner, request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const code = error instanceof PartnerFailure ? error.code : 'internal';
  const cause = error instanceof PartnerFailure ? error.cause : error;
  partner.logger.warn('page failed', {
    requestId: logText(request.id),
    code: logText(code),
    ...(cause === undefined ? {} : describeError(cause)),
  });
  const retry = request.method === 'GET' ? localPath(request.url) : '/';
  const status = code === 'internal' ? 500 : statuses[code];
  return page(reply.code(status), failurePage(messagesOf(request), code, request.id, retry));
}
