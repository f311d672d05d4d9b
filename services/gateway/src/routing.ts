// Puts the routes onto Fastify: route before method before everything else (R20), one span, one deadline,
// one access line and one way from a failure to an answer for all of them.
import { METHODS } from 'node:http';
import { withCall } from '@course-exchange/runtime/call-context';
import { Failure } from '@course-exchange/runtime/failure';
import { describeError, type Logger, logText } from '@course-exchange/runtime/logger';
import { connectionProblem } from '@course-exchange/runtime/rpc-errors';
import { inSpan } from '@course-exchange/runtime/telemetry';
import { context, propagation, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Answer } from './answer.ts';
import { errorReply } from './error-reply.ts';
import { keepContext, traceAnswer } from './request-trace.ts';
import type { Route } from './routes/route.ts';
import { type Headers, surfaceHeaders } from './security-headers.ts';
import { type IncomingRequest, incomingRequest } from './wire/incoming-request.ts';

export interface RoutingOptions {
  readonly issuer: string;
  readonly logger: Logger;
  /** Time for an answer in milliseconds where the route names none (R14). */
  readonly budgetMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A fresh, well-formed request id. */
  readonly makeRequestId: () => string;
}

export function addRoutes(app: FastifyInstance, routes: readonly Route[], options: RoutingOptions): void {
  // Every method counts as bodyless for Fastify: a route that wants the body reads it (R8: the content
  // type is judged after the method and by identity), and no parser of Fastify's answers instead.
  for (const method of METHODS) app.addHttpMethod(method, { overrideExisting: true });
  for (const [path, atPath] of Map.groupBy(routes, (route) => route.path))
    addPath(app, path, atPath, options);
}

function addPath(app: FastifyInstance, url: string, routes: readonly Route[], options: RoutingOptions): void {
  const taken = new Map<string, Route>();
  for (const route of routes) {
    taken.set(route.method, route);
    if (route.head) taken.set('HEAD', route);
  }
  for (const [method, route] of taken) app.route({ method, url, handler: routeHandler(route, options) });
  const [first] = routes;
  const others = METHODS.filter((method) => !taken.has(method));
  const surface = first?.surface ?? 'public';
  const headers = { ...surfaceHeaders(surface, options.issuer), allow: [...taken.keys()].join(', ') };
  app.route({
    method: others,
    url,
    handler: (request, reply) => {
      if (hasEmptyParameter(request)) return reply.callNotFound();
      return send(reply, headers, errorReply('method_not_allowed', surface, undefined));
    },
  });
}

/** `/api/events//designs` is an unknown route (R20), whatever the router makes of it. */
function hasEmptyParameter(request: FastifyRequest): boolean {
  return Object.values(request.params as Record<string, string>).includes('');
}

function routeHandler(route: Route, options: RoutingOptions) {
  const headers = surfaceHeaders(route.surface, options.issuer);
  const name = `${route.method} ${route.path}`;
  const attributes = { 'http.route': route.path, 'http.request.method': route.method };
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> => {
    if (hasEmptyParameter(request)) {
      reply.callNotFound();
      return reply;
    }
    const parent = propagation.extract(ROOT_CONTEXT, request.raw.headers);
    const active = withCall(parent, request.id, options.now() + (route.budgetMs ?? options.budgetMs));
    const incoming = incomingRequest(request.raw, request.id, request.params, () => request.ip);
    return context.with(active, () =>
      inSpan(name, SpanKind.SERVER, attributes, async () => {
        keepContext(request);
        const answer = await answerOf(route, incoming, options.logger);
        traceAnswer(request.id, answer.status);
        return send(reply, headers, answer);
      }),
    );
  };
}

async function answerOf(route: Route, request: IncomingRequest, logger: Logger): Promise<Answer> {
  try {
    return await route.answer(request);
  } catch (error) {
    const code = error instanceof Failure ? error.code : 'server_error';
    if (!(error instanceof Failure))
      logger.error('unforeseen error', { route: logText(route.path), ...describeError(error) });
    else if (code === 'temporarily_unavailable' || code === 'server_error') logFailure(error, route, logger);
    return route.explain?.(code, request) ?? errorReply(code, route.surface, request.authorization);
  }
}

/** Also says why a service was not reached: nobody else can, where a certificate is refused or an address is wrong. */
function logFailure(failure: Failure, route: Route, logger: Logger): void {
  const reason = connectionProblem(failure);
  const fields = { route: logText(route.path), code: logText(failure.code) };
  logger.warn('answer failed', reason === undefined ? fields : { ...fields, reason: logText(reason) });
}

/** `answer`'s own headers stand above the surface's. While the server stops, each answer ends its connection. */
export function send(reply: FastifyReply, headers: Headers, answer: Answer): FastifyReply {
  reply.code(answer.status).headers(headers).headers(answer.headers);
  if (!reply.server.server.listening) reply.header('connection', 'close');
  if (answer.cookies.length > 0) reply.header('set-cookie', answer.cookies);
  return reply.send(answer.body);
}
