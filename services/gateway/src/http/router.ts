// http/ is HTTP before and after a route: connections, admission, bodies, forms, cookies, headers and errors, around Fastify. It knows
// no route and no page.

// Registers the routes in Fastify: route before method before everything else (R20.1), with one span, deadline,
// admission and translation of failures.
import { type IncomingMessage, METHODS } from 'node:http';
import { Failure, isFault, Overloaded } from '@course-exchange/runtime/process/errors';
import { describeError, type Logger, logText } from '@course-exchange/runtime/process/logger';
import { unknownClient } from '@course-exchange/runtime/process/metrics';
import { currentCall, withCall } from '@course-exchange/runtime/process/request-context';
import { annotate, inSpan, recordError } from '@course-exchange/runtime/process/spans';
import { type Context, context, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { gatewayMetrics } from '../metrics.ts';
import type { Admission, Work } from './admission.ts';
import { errorReply, type ReplyCode } from './errors.ts';
import { type Headers, profileHeaders } from './headers.ts';
import { bringsForm, clientNetwork, type IncomingRequest, incomingRequest, sinceArrival } from './request.ts';
import type { BodyReader } from './request-bodies.ts';
import { type Answer, bodyOf, bytesOf, methodsOf, type ResponseProfile, type Route } from './route.ts';
import { answerAttributes, callersTrace, spanOf } from './route-span.ts';
import type { UnreadAnswers } from './unread-answers.ts';

export interface RoutingOptions {
  readonly issuer: string;
  readonly logger: Logger;
  readonly budgetMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly makeRequestId: () => string;
}

export interface Limits extends Admission {
  readonly readBody: BodyReader;
  readonly holdAnswer: UnreadAnswers;
}

export function addRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  options: RoutingOptions,
  limits: Limits,
): void {
  // Fastify's body parsers would answer before the method is checked (R8).
  for (const method of METHODS) app.addHttpMethod(method, { overrideExisting: true });
  for (const route of routes)
    app.route({ method: methodsOf(route), url: route.path, handler: routeHandler(route, options, limits) });
  for (const [path, atPath] of Map.groupBy(routes, (route) => route.path))
    refuseOtherMethods(app, path, atPath, options, limits);
}

function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  routes: readonly Route[],
  options: RoutingOptions,
  limits: Limits,
): void {
  const allowed: readonly string[] = routes.flatMap(methodsOf);
  const profile = routes[0]?.profile ?? 'public';
  const headers = { ...profileHeaders(profile, options.issuer), allow: allowed.join(', ') };
  app.route({
    method: METHODS.filter((method) => !allowed.includes(method)),
    url,
    handler: (request, reply) => {
      if (hasEmptyParameter(request)) return reply.callNotFound();
      const refuse = () => send(reply, headers, errorReply('method_not_allowed', profile));
      return answerUnknown(request, reply, { options, limits, answer: refuse });
    },
  });
}

interface UnknownRequest {
  readonly options: RoutingOptions;
  readonly limits: Limits;
  readonly answer: () => FastifyReply;
}

/** No route, or another method: admitted until the response is sent (R14.11). */
export function answerUnknown(
  request: FastifyRequest,
  reply: FastifyReply,
  { options, limits, answer }: UnknownRequest,
): FastifyReply {
  try {
    reply.raw.once('close', limits.admitUnknown(clientNetwork(request)));
    return answer();
  } catch (error) {
    if (!(error instanceof Overloaded)) throw error;
    gatewayMetrics.workRefused.add({ work: 'unknown', reason: error.message });
    return sendError(reply, error.code, options);
  }
}

/** `/api/events//designs` is an unknown route (R20.2). */
function hasEmptyParameter(request: FastifyRequest): boolean {
  return Object.values(request.params as Record<string, string>).includes('');
}

const workOf: Readonly<Record<ResponseProfile, Work>> = {
  token: 'token',
  resource: 'list',
  page: 'other',
  public: 'public',
};

function workFor({ work, profile }: Route): Work {
  return work ?? workOf[profile];
}

function routeHandler(route: Route, options: RoutingOptions, limits: Limits) {
  const budgetMs = route.budgetMs ?? options.budgetMs;
  const headers = profileHeaders(route.profile, options.issuer);
  const spans = new Map(methodsOf(route).map((method) => [method as string, spanOf(method, route)]));
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> => {
    if (hasEmptyParameter(request)) {
      reply.callNotFound();
      return reply;
    }
    const incoming = incomingRequest(request, reply.raw, limits.holdAnswer);
    const deadline = options.now() + budgetMs - Math.round(sinceArrival(request.raw));
    const active = withCall(ROOT_CONTEXT, request.id, deadline, incoming.clientAddress);
    const { name, attributes } = spans.get(request.method) ?? spanOf(route.method, route);
    const answerRequest = async () => {
      const answer = await admitted(route, request.raw, incoming, limits, deadline).catch(
        (error: unknown) => {
          report(error, route, options.logger);
          return failureAnswer(route, error, incoming);
        },
      );
      annotate(() => answerAttributes(request.id, answer, currentCall().subject.client));
      countForClient(route, answer);
      return send(reply, headers, answer, context.active());
    };
    return inSpan(name, SpanKind.SERVER, attributes, answerRequest, active, () => callersTrace(request.raw));
  };
}

/** The body is read before admission: a slow one holds no permit. */
async function admitted(
  route: Route,
  raw: IncomingMessage,
  incoming: ReturnType<typeof incomingRequest>,
  { admit, readBody }: Limits,
  deadline: number,
): Promise<Answer> {
  let body: Awaited<ReturnType<BodyReader>> | undefined;
  let release: (() => void) | undefined;
  try {
    if (route.method === 'POST' && bringsForm(incoming)) {
      body = await readBody(raw, incoming.network);
      incoming.body = body.text;
    }
    release = await admit(workFor(route), incoming.network, deadline);
    if (raw.socket.destroyed) throw new Overloaded('client_disconnected');
    return await route.answer(incoming);
  } finally {
    release?.();
    body?.release();
  }
}

function report(error: unknown, route: Route, logger: Logger): void {
  recordError(error);
  const fields = { route: logText(route.path) };
  if (!(error instanceof Failure)) logger.error('unforeseen error', { ...fields, ...describeError(error) });
  else if (isFault(error)) {
    const reason = error.message === error.code ? {} : { reason: logText(error.message) };
    logger.warn('answer failed', { ...fields, code: logText(error.code), ...reason });
  }
}

function failureAnswer(route: Route, error: unknown, request: IncomingRequest): Answer {
  if (error instanceof Overloaded)
    gatewayMetrics.workRefused.add({ work: workFor(route), reason: error.message });
  const code = error instanceof Failure ? error.code : 'server_error';
  const page = route.renderError?.(code, request);
  return page ? { ...page, code } : errorReply(code, route.profile, request.authorization);
}

function countForClient({ profile, path }: Route, { code }: Answer): void {
  if (profile !== 'token' && profile !== 'resource') return;
  const labels = { client_id: currentCall().subject.client ?? unknownClient, 'http.route': path };
  gatewayMetrics.clientRequests.add(code === undefined ? labels : { ...labels, 'error.type': code });
}

/** For requests without a route. */
export function sendError(reply: FastifyReply, code: ReplyCode, options: RoutingOptions): FastifyReply {
  return sendAnswer(reply, 'public', errorReply(code, 'public'), options);
}

export function sendAnswer(
  reply: FastifyReply,
  profile: ResponseProfile,
  answer: Answer,
  { issuer }: RoutingOptions,
): FastifyReply {
  return send(reply, profileHeaders(profile, issuer), answer);
}

/**
 * `answer`'s headers override the profile's. Node drops what follows an upgrade request: the connection closes.
 */
function send(
  reply: FastifyReply,
  headers: Headers,
  answer: Answer,
  active = outcomeOf(reply.request).context,
): FastifyReply {
  reply.request.outcome = { context: active, code: answer.code };
  reply.code(answer.status).headers(headers).headers(answer.headers);
  const isLast = !reply.server.server.listening || reply.request.headers.upgrade !== undefined;
  if (isLast) reply.header('connection', 'close');
  if (answer.cookies.length > 0) reply.header('set-cookie', answer.cookies);
  if (typeof answer.body === 'string') return reply.send(answer.body);
  return reply.header('content-length', bytesOf(answer.body)).send(bodyOf(answer.body));
}

interface Outcome {
  /** With the route's span; without a route only the request id. */
  readonly context: Context;
  readonly code?: string | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the response is sent. */
    outcome: Outcome | null;
  }
}

export function outcomeOf({ outcome, id }: FastifyRequest): Outcome {
  return outcome ?? { context: withCall(ROOT_CONTEXT, id, 0) };
}
