// The HTTP server: Fastify with the defaults changed that break the contract (R20, R25), and nothing of
// its own in any answer.
import type { Socket } from 'node:net';
import { isWellFormedRequestId } from '@course-exchange/runtime/call-context';
import { describeError, type Logger, logText } from '@course-exchange/runtime/logger';
import { context } from '@opentelemetry/api';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { answerBrokenConnection } from './broken-connection.ts';
import { errorReply } from './error-reply.ts';
import { contextOf } from './request-trace.ts';
import type { Route } from './routes/route.ts';
import { addRoutes, type RoutingOptions, send } from './routing.ts';
import { surfaceHeaders } from './security-headers.ts';

export interface AppOptions extends RoutingOptions {
  /** CIDRs whose X-Forwarded-For is believed (R30); empty: nobody's. */
  readonly trustedProxies: readonly string[];
}

/**
 * Longer than an ingress keeps an idle connection, so that it never sends a form into one that closes: nginx and AWS keep
 * them for 60 s, Traefik for 90 s, Google for 600 s (ms).
 */
const keepAliveMs = 620_000;
const headersMs = 10_000;
const requestMs = 20_000;
const sweepMs = 100;
/** As long as a header section may be: the path is never refused for its length (R20). */
const longestPath = 16 * 1024;

export function createApp(routes: readonly Route[], options: AppOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestMs,
    http: {
      headersTimeout: headersMs,
      connectionsCheckingInterval: 2_000,
      maxHeaderSize: longestPath,
      requireHostHeader: false,
    },
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    genReqId: (raw) => requestIdFrom(raw.headers['x-request-id']) ?? options.makeRequestId(),
    clientErrorHandler: (error, socket) => answerBrokenConnection(error, socket, options, routes),
    frameworkErrors: (_error, request, reply) => {
      reply.header('x-request-id', request.id);
      answerNotFound(reply, options);
    },
    routerOptions: { maxParamLength: longestPath, querystringParser: () => ({}) },
  });
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    if (request.raw.httpVersion === '1.1' && request.raw.headers.host === undefined)
      send(
        reply,
        surfaceHeaders('public', options.issuer),
        errorReply('invalid_request', 'public', undefined),
      );
    else done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    logAccess(request, reply, options.logger);
    done();
  });
  app.setNotFoundHandler((_request, reply) => answerNotFound(reply, options));
  app.setErrorHandler((error, _request, reply) => {
    options.logger.error('unforeseen error', describeError(error));
    return send(
      reply,
      surfaceHeaders('public', options.issuer),
      errorReply('server_error', 'public', undefined),
    );
  });
  addRoutes(app, routes, options);
  closeIdleConnectionsWhileStopping(app);
  answerOutsideOfRequests(app, options, routes);
  return app;
}

function answerNotFound(reply: FastifyReply, { issuer }: AppOptions): FastifyReply {
  return send(reply, surfaceHeaders('public', issuer), errorReply('not_found', 'public', undefined));
}

/** A connection that falls idle during the stop would be waited for until its keep-alive ends. */
function closeIdleConnectionsWhileStopping(app: FastifyInstance): void {
  let sweep: NodeJS.Timeout | undefined;
  app.addHook('preClose', (done) => {
    sweep = setInterval(() => app.server.closeIdleConnections(), sweepMs);
    done();
  });
  app.addHook('onClose', (_instance, done) => {
    clearInterval(sweep);
    done();
  });
}

/** Node answers these by itself, with an empty body, unless somebody listens. */
function answerOutsideOfRequests(app: FastifyInstance, options: AppOptions, routes: readonly Route[]): void {
  // An expectation that we do not know is not met by refusing the request: it is answered as ever.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connect', (_request, socket) => {
    // Node has let go of this socket: its errors and its end are ours, or it would take the process with it.
    socket.on('error', () => socket.destroy()).once('finish', () => socket.destroy());
    answerBrokenConnection(new Error('no tunnel here'), socket as Socket, options, routes);
  });
}

/** R25: a well-formed id of the caller's is kept. */
function requestIdFrom(header: string | string[] | undefined): string | undefined {
  const sent = Array.isArray(header) ? undefined : header;
  return isWellFormedRequestId(sent) ? sent : undefined;
}

/** One line for each answer. Neither path nor query nor address: they hold ids, codes and people (R27). */
function logAccess(request: FastifyRequest, reply: FastifyReply, logger: Logger): void {
  context.with(contextOf(request), () =>
    logger.info('request', {
      route: logText(request.routeOptions.url ?? 'unknown'),
      method: logText(request.method),
      status: reply.statusCode,
      durationMs: Math.round(reply.elapsedTime * 10) / 10,
    }),
  );
}
