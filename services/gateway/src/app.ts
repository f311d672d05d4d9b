// The HTTP server: Fastify, with the defaults changed that would break the contract.
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describeError, type Logger, logText } from '@course-exchange/runtime/process/logger';
import { currentCall, isWellFormedRequestId } from '@course-exchange/runtime/process/request-context';
import { context } from '@opentelemetry/api';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { prefersHtml } from './http/accept.ts';
import { createAdmission } from './http/admission.ts';
import { answerBrokenConnection } from './http/broken-connection.ts';
import { limitConnections } from './http/connections.ts';
import { errorReply } from './http/errors.ts';
import { plainHttpAnswer, trustedProxy } from './http/plain-http.ts';
import { noteArrival, sinceArrival } from './http/request.ts';
import { createBodyReader } from './http/request-bodies.ts';
import type { Answer, Route } from './http/route.ts';
import {
  addRoutes,
  answerUnknown,
  outcomeOf,
  type RoutingOptions,
  sendAnswer,
  sendError,
} from './http/router.ts';
import { limitUnreadAnswers } from './http/unread-answers.ts';
import { connectionClosed, gatewayMetrics, namedMethod } from './metrics.ts';
import type { PageRequest } from './routes/browser.ts';

export interface AppOptions extends RoutingOptions {
  /** CIDRs whose X-Forwarded-For and X-Forwarded-Proto are believed (R30.9, R28.3). */
  readonly trustedProxies: readonly string[];
  /** At `/`, for a browser; any other client gets the JSON of an unknown route. */
  readonly startAnswer: (request: PageRequest) => Answer;
}

/**
 * Longer than an ingress keeps an idle connection (nginx and AWS 60 s, Traefik 90 s, Google 600 s), so that it never
 * writes into a closing one (ms).
 */
const keepAliveMs = 620_000;
const headersMs = 10_000;
const requestMs = 20_000;
const sweepMs = 100;
const longestPath = 16 * 1024;

export function createApp(routes: readonly Route[], options: AppOptions): FastifyInstance {
  const trusts = trustedProxy(options.trustedProxies);
  const misunderstood = new WeakSet<Socket>();
  const refused = (request: FastifyRequest, reply: FastifyReply): boolean => {
    if (misunderstood.has(request.socket)) {
      reply.hijack();
      return true;
    }
    reply.header('x-request-id', request.id);
    const isClear = isUnderstood(request.raw);
    if (!isClear) {
      // Where it ends is in doubt: what follows is not run.
      misunderstood.add(request.socket);
      reply.raw.shouldKeepAlive = false;
    }
    const answer = isClear
      ? plainHttpAnswer(request.raw, request.originalUrl, options.issuer, trusts)
      : errorReply('invalid_request', 'public');
    if (answer !== undefined) sendAnswer(reply, 'public', answer, options);
    return answer !== undefined;
  };
  /** Of the newest request on each connection. */
  const newest = new WeakMap<Socket, ServerResponse>();
  const answerBroken = (error: Error, socket: Socket): void =>
    answerBrokenConnection(error, socket, newest.get(socket), connections.answersOn(socket), options, routes);
  const app = fastify({
    // R27: it would log addresses and paths.
    logger: false,
    // R20.1: a route says whether it answers HEAD.
    exposeHeadRoutes: false,
    // A process that stops answers what it has accepted.
    return503OnClosing: false,
    keepAliveTimeout: keepAliveMs,
    requestTimeout: requestMs,
    http: {
      headersTimeout: headersMs,
      connectionsCheckingInterval: 2_000,
      // R20.3: no path is refused for its length.
      maxHeaderSize: longestPath,
      // R25.11: the response to a missing host is ours, too.
      requireHostHeader: false,
    },
    // R28.3, R30.9.
    trustProxy: trusts,
    // R20.7.
    rewriteUrl: ({ url = '' }) => routableUrl(url),
    // R25.2.
    genReqId: ({ headers: { 'x-request-id': sent } }) =>
      typeof sent === 'string' && isWellFormedRequestId(sent) ? sent : options.makeRequestId(),
    // R25.1, R25.3: these headers also where no request was understood.
    clientErrorHandler: (error, socket) => answerBroken(error, socket),
    // R20.2.
    frameworkErrors: (_error, request, reply) => {
      if (!refused(request, reply)) sendError(reply, 'not_found', options);
    },
    // R20.3; R3.1: a query is decoded once, by the route.
    routerOptions: { maxParamLength: longestPath, querystringParser: () => ({}) },
  });
  app.decorateRequest('outcome', null);
  app.addHook('onRequest', (request, reply, done) => {
    reportAnswer(request, reply, options.logger);
    if (!refused(request, reply)) done();
  });
  const limits = {
    ...createAdmission(options.now),
    readBody: createBodyReader(),
    holdAnswer: limitUnreadAnswers(),
  };
  app.setNotFoundHandler((request, reply) => {
    const { headers, id: requestId } = request;
    const answer = () =>
      opensStart(request)
        ? sendAnswer(reply, 'page', options.startAnswer({ headers, requestId }), options)
        : sendError(reply, 'not_found', options);
    return answerUnknown(request, reply, { options, limits, answer });
  });
  app.setErrorHandler((error, _request, reply) => {
    options.logger.error('unforeseen error', describeError(error));
    return sendError(reply, 'server_error', options);
  });
  const connections = limitConnections(app, options.logger);
  app.server.prependListener('request', (request, response) => {
    noteArrival(request);
    newest.set(request.socket, response);
  });
  addRoutes(app, routes, options, limits);
  closeIdleConnectionsWhileStopping(app);
  answerOutsideOfRequests(app, answerBroken);
  return app;
}

function opensStart({ method, url, headers }: FastifyRequest): boolean {
  return /^(GET|HEAD)$/.test(method) && /^\/(\?|$)/.test(url) && prefersHtml(headers.accept);
}

/** Fastify rejects percent-encoding that is not UTF-8; such bytes become U+FFFD, which no issued id holds (R20.7). */
function routableUrl(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  if (!path.includes('%')) return url;
  const routable = path.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => (isUtf8Encoded(run) ? run : '%EF%BF%BD'));
  return routable + url.slice(path.length);
}

function isUtf8Encoded(run: string): boolean {
  return isUtf8(Buffer.from(run.replaceAll('%', ''), 'hex'));
}

/**
 * Node keeps the first of several `Host` headers (R25.11), and accepts any transfer coding that ends in `chunked`, in
 * HTTP/1.0 too (RFC 9112 §6.1).
 */
function isUnderstood({ headers, headersDistinct, httpVersion }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1')) return false;
  const hosts = headersDistinct.host?.length ?? 0;
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1');
}

/** Otherwise a connection that falls idle meanwhile delays the stop until its keep-alive ends. */
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

/** Node answers these with an empty body by default. */
function answerOutsideOfRequests(
  app: FastifyInstance,
  answerBroken: (error: Error, socket: Socket) => void,
): void {
  // Unknown expectations are ignored.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connect', (_request, socket) => {
    // Node has released this socket: an unhandled error would end the process.
    socket.on('error', () => socket.destroy()).once('finish', () => socket.destroy());
    answerBroken(new Error('CONNECT is not supported'), socket as Socket);
  });
}

interface EndedAnswer {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The client did not read all of it. */
  readonly aborted: boolean;
  readonly milliseconds: number;
}

/** Fastify's own hook misses aborted answers. */
function reportAnswer(request: FastifyRequest, reply: FastifyReply, logger: Logger): void {
  let aborted = true;
  reply.raw.once('finish', () => {
    aborted = false;
  });
  reply.raw.once('close', () => {
    const answer = { request, reply, aborted, milliseconds: sinceArrival(request.raw) };
    measureAnswer(answer);
    logAnswer(answer, logger);
  });
}

function measureAnswer({ request, reply, aborted, milliseconds }: EndedAnswer): void {
  const { method, protocol, routeOptions } = request;
  const { statusCode: status } = reply;
  const error = status < 500 ? undefined : (outcomeOf(request).code ?? String(status));
  const errorType = aborted ? connectionClosed : error;
  gatewayMetrics.requests.record(milliseconds / 1_000, {
    'http.request.method': namedMethod(method),
    'url.scheme': protocol === 'https' ? 'https' : 'http',
    ...(reply.raw.headersSent ? { 'http.response.status_code': status } : {}),
    ...(routeOptions.url === undefined ? {} : { 'http.route': routeOptions.url }),
    ...(errorType === undefined ? {} : { 'error.type': errorType }),
  });
}

/** No path, query or address (R27). */
function logAnswer({ request, reply, aborted, milliseconds }: EndedAnswer, logger: Logger): void {
  const { method, routeOptions } = request;
  const { context: active, code } = outcomeOf(request);
  const { client, user } = currentCall(active).subject;
  context.with(active, () =>
    logger.info('request', {
      route: logText(routeOptions.url ?? 'unknown'),
      method: logText(method),
      ...(reply.raw.headersSent ? { status: reply.statusCode } : {}),
      ...(aborted ? { aborted } : {}),
      ...(code === undefined ? {} : { code: logText(code) }),
      ...(client === undefined ? {} : { client: logText(client) }),
      ...(user === undefined ? {} : { user: logText(user) }),
      durationMs: Math.round(milliseconds * 10) / 10,
    }),
  );
}
