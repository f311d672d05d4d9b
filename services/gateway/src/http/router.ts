// Puts the routes onto Fastify: route before method before everything else (R20), one span, one deadline,
// one access line and one way from a failure to an answer for all of them.
import { type IncomingMessage, METHODS } from 'node:http';
import { connectionProblem } from '@course-exchange/runtime/grpc/status';
import { Failure, isFault, Overloaded } from '@course-exchange/runtime/process/errors';
import { clientOf, describeError, type Logger, logText } from '@course-exchange/runtime/process/logger';
import { unknownClient } from '@course-exchange/runtime/process/metrics';
import { withCall } from '@course-exchange/runtime/process/request-context';
import { annotate, inSpan, recordError } from '@course-exchange/runtime/process/spans';
import { type Context, context, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { gatewayMetrics } from '../metrics.ts';
import { type Admission, createAdmission, Refused, type Work } from './admission.ts';
import { errorReply, type ReplyCode } from './errors.ts';
import { bringsForm } from './form.ts';
import { type Headers, profileHeaders } from './headers.ts';
import { type IncomingRequest, incomingRequest } from './request.ts';
import { type Body, createBodyReader } from './request-bodies.ts';
import { type Answer, bytesOf, methodsOf, type ResponseProfile, type Route } from './route.ts';
import { answerAttributes, callersTrace, spanOf } from './route-span.ts';
import { bodyOf, limitUnreadAnswers } from './unread-answers.ts';

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

interface Limits {
  readonly admit: Admission;
  readonly readBody: ReturnType<typeof createBodyReader>;
  readonly holdAnswer: ReturnType<typeof limitUnreadAnswers>;
}

export function addRoutes(app: FastifyInstance, routes: readonly Route[], options: RoutingOptions): void {
  // Every method counts as bodyless for Fastify: a route that wants the body reads it (R8: the content
  // type is judged after the method, in form.ts), and no parser of Fastify's answers instead.
  for (const method of METHODS) app.addHttpMethod(method, { overrideExisting: true });
  const limits = {
    admit: createAdmission(options),
    readBody: createBodyReader(),
    holdAnswer: limitUnreadAnswers(app, options.logger),
  };
  for (const route of routes)
    app.route({ method: methodsOf(route), url: route.path, handler: routeHandler(route, options, limits) });
  for (const [path, atPath] of Map.groupBy(routes, (route) => route.path))
    refuseOtherMethods(app, path, atPath, options);
}

function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  routes: readonly Route[],
  options: RoutingOptions,
): void {
  const taken: readonly string[] = routes.flatMap(methodsOf);
  const profile = routes[0]?.profile ?? 'public';
  const headers = { ...profileHeaders(profile, options.issuer), allow: taken.join(', ') };
  app.route({
    method: METHODS.filter((method) => !taken.includes(method)),
    url,
    handler: (request, reply) => {
      if (hasEmptyParameter(request)) return reply.callNotFound();
      return send(reply, headers, errorReply('method_not_allowed', profile));
    },
  });
}

/** `/api/events//designs` is an unknown route (R20), whatever the router makes of it. */
function hasEmptyParameter(request: FastifyRequest): boolean {
  return Object.values(request.params as Record<string, string>).includes('');
}

const workOf: Readonly<Record<ResponseProfile, Work | undefined>> = {
  token: 'token',
  resource: 'list',
  page: 'other',
  // However many ask, one call is under way.
  public: undefined,
};

function workFor({ work, profile }: Route): Work | undefined {
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
    const incoming = incomingRequest(request, (network) => limits.holdAnswer(reply.raw, network));
    const deadline = options.now() + budgetMs;
    const active = withCall(ROOT_CONTEXT, request.id, deadline, incoming.clientAddress);
    const { name, attributes } = spans.get(request.method) ?? spanOf(route.method, route);
    const answerRequest = async () => {
      const answer = await admitted(route, request.raw, incoming, limits, deadline).catch(
        (error: unknown) => {
          report(error, route, options.logger);
          return failureAnswer(route, error, incoming);
        },
      );
      tell(request, route, answer);
      annotate(() => answerAttributes(request.id, answer, clientOf()));
      return send(reply, headers, answer);
    };
    return inSpan(name, SpanKind.SERVER, attributes, answerRequest, active, () => callersTrace(request.raw));
  };
}

/**
 * Reads the body, waits for the request's turn and answers it. A body that comes slowly takes nobody's room: its request is
 * admitted when it has ended.
 */
async function admitted(
  route: Route,
  raw: IncomingMessage,
  incoming: ReturnType<typeof incomingRequest>,
  { admit, readBody }: Limits,
  deadline: number,
): Promise<Answer> {
  const work = workFor(route);
  let body: Body | undefined;
  let release: (() => void) | undefined;
  try {
    if (route.method === 'POST' && bringsForm(incoming)) {
      body = await readBody(raw, incoming.network);
      incoming.body = body.text;
    }
    if (work !== undefined) release = await admit(work, incoming.network, deadline);
    if (raw.socket.destroyed) throw new Overloaded('nobody waits any more');
    return await route.answer(incoming);
  } finally {
    release?.();
    body?.release();
  }
}

function report(error: unknown, route: Route, logger: Logger): void {
  recordError(error);
  if (!(error instanceof Failure))
    logger.error('unforeseen error', { route: logText(route.path), ...describeError(error) });
  else if (isFault(error) && !(error instanceof Refused)) logFailure(error, route, logger);
}

function failureAnswer(route: Route, error: unknown, request: IncomingRequest): Answer {
  if (error instanceof Overloaded)
    gatewayMetrics.workRefused.add({ work: workFor(route) ?? 'none', reason: error.message });
  const code = error instanceof Failure ? error.code : 'server_error';
  const page = route.renderError?.(code, request);
  return page ? { ...page, code } : errorReply(code, route.profile, request.authorization);
}

/** Also says why a service was not reached: nobody else can, where a certificate is refused or an address is wrong. */
function logFailure(failure: Failure, route: Route, logger: Logger): void {
  const reason = failure instanceof Overloaded ? failure.message : connectionProblem(failure);
  const fields = { route: logText(route.path), code: logText(failure.code) };
  logger.warn('answer failed', reason === undefined ? fields : { ...fields, reason: logText(reason) });
}

/** Where no route answers. */
export function sendError(reply: FastifyReply, code: ReplyCode, options: RoutingOptions): FastifyReply {
  return sendPublic(reply, errorReply(code, 'public'), options);
}

export function sendPublic(reply: FastifyReply, answer: Answer, { issuer }: RoutingOptions): FastifyReply {
  return send(reply, profileHeaders('public', issuer), answer);
}

/** `answer`'s own headers stand above the profile's. While the server stops, each answer ends its connection. */
function send(reply: FastifyReply, headers: Headers, answer: Answer): FastifyReply {
  const { request } = reply;
  if (!outcomes.has(request)) outcomes.set(request, { ...outcomeOf(request), code: answer.code });
  reply.code(answer.status).headers(headers).headers(answer.headers);
  if (!reply.server.server.listening) reply.header('connection', 'close');
  if (answer.cookies.length > 0) reply.header('set-cookie', answer.cookies);
  if (typeof answer.body === 'string') return reply.send(answer.body);
  const length = bytesOf(answer.body);
  return reply.header('content-length', length).send(bodyOf(answer.body, length));
}

/** What the log and the metrics tell of a request once it is answered: the answer's own hooks run outside of its route. */
interface Outcome {
  /** Of the route, with its span; where no route was reached, one with the request's id alone. */
  readonly context: Context;
  /** The client that a service has authenticated. */
  readonly client?: string | undefined;
  readonly code?: string | undefined;
}

const outcomes = new WeakMap<FastifyRequest, Outcome>();

export function outcomeOf(request: FastifyRequest): Outcome {
  return outcomes.get(request) ?? { context: withCall(ROOT_CONTEXT, request.id, 0) };
}

function tell(request: FastifyRequest, route: Route, { code }: Answer): void {
  const client = clientOf();
  const active = context.active();
  const inRoute = active === ROOT_CONTEXT ? outcomeOf(request).context : active;
  outcomes.set(request, { context: inRoute, client, code });
  if (route.profile !== 'token' && route.profile !== 'resource') return;
  const labels = { client_id: client ?? unknownClient, 'http.route': route.path };
  gatewayMetrics.clientRequests.add(code === undefined ? labels : { ...labels, 'error.type': code });
}
