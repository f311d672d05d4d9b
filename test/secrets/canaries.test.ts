// A canary for each kind of R27 is put through every flow, well and badly, with stores up and down; then
// every log line, every exported span and every metric is searched for each of them.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { logEventsSchema } from '../generate/observability.ts';
import { type Discovery, discover } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { type DemoUser, type Partner, twinPartners, userWho } from '../support/stack-file.ts';
import { type System, startSystem } from '../support/system.ts';
import { type ReceivedSpan, receiveTraces, type TraceReceiver } from '../support/trace-receiver.ts';
import { basicOf, createFlows, type Flows } from './flows.ts';
import { countedEvents, linesOf, loggedEvents, logLines, metricsOf, records } from './told.ts';

let traces: TraceReceiver;
let system: System;
const allMetrics = async () => [...(await metricsOf(system.stack)).values()].join('');
/** Of processes that are killed later. */
let earlierMetrics = '';
let discovery: Discovery;
let partner: Partner;
let user: DemoUser;
let flows: Flows;

beforeAll(async () => {
  traces = await receiveTraces();
  system = await startSystem({
    LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: traces.endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '500',
  });
  discovery = await discover(system.stack.issuer);
  [partner] = twinPartners(system.stack);
  user = userWho(system.stack, 'typical season');
  flows = createFlows(system, discovery, partner, user);
  const { canary } = flows;
  canary('client secret', partner.clientSecret);
  canary('credentials', basicOf(partner));
  canary('password', user.password);
  canary('e-mail', user.email);
  canary('name', user.name);
  canary('sub', user.sub);
}, 120_000);
afterAll(async () => {
  await system?.stop();
  await traces?.stop();
});

test('every flow was walked, with stores up and down', async () => {
  const good = await flows.login();
  await flows.refuse();
  await flows.failToLogIn();
  await flows.misuse(good);
  for (const store of ['redis', 'postgres'] as const) {
    await system.kill(store);
    await flows.misuse(good);
    await flows.failToLogIn().catch(() => undefined);
    await system.start(store);
    await expect.poll(async () => (await flows.refresh('x')).status, { timeout: 30_000 }).toBe(400);
  }
  await flows.operate();
  await flows.login();
  expect(flows.canaries.size).toBeGreaterThan(40);
  expect(logLines(system).length).toBeGreaterThan(100);
}, 180_000);

test('the security events that were counted are those that were logged, by event and reason [R33.2]', async () => {
  expect(new Set(countedEvents(await allMetrics())).size).toBeGreaterThan(8);
  // A login that its caller gave up while a store was away may still end.
  const told = async () =>
    [countedEvents(await allMetrics()), loggedEvents(system)].map((all) => all.toSorted().join());
  await expect.poll(told, { timeout: 30_000 }).toSatisfy(([counted, logged]) => counted === logged);
});

/** Of what spans tell to have been thrown. */
function exceptionCodes(): unknown[] {
  const exceptions = traces.spans().flatMap((span) => span.exceptions);
  return [...new Set(exceptions.map((exception) => exception.get('course_exchange.exception.code')))];
}

test('and with services killed, which ends what they have counted', async () => {
  // What a process has not exported yet dies with it.
  await expect.poll(exceptionCodes, { timeout: 30_000 }).toContain('ECONNREFUSED');
  earlierMetrics = await allMetrics();
  const good = await flows.login();
  for (const service of ['identity', 'design-catalog'] as const) {
    await system.kill(service);
    await flows.misuse(good);
    await system.start(service);
    await expect.poll(async () => (await flows.refresh('x')).status, { timeout: 30_000 }).toBe(400);
  }
  await flows.failInTheDrivers();
}, 180_000);

test('no log line contains a canary, and every line is JSON [R27.1]', () => {
  for (const { service, line } of logLines(system)) {
    expect(() => JSON.parse(line), `${service}: ${line.slice(0, 200)}`).not.toThrow();
    for (const [kind, value] of flows.canaries) {
      expect(
        line.includes(value) || line.includes(encodeURIComponent(value)),
        `${kind} in ${service}: ${line}`,
      ).toBe(false);
    }
  }
});

test('every line of the log is as the schema says, and the schema knows each event by its reasons [R33.2]', () => {
  const isLine = new Ajv2020({ strict: false }).compile(logEventsSchema());
  const lines = records(system);
  for (const line of lines)
    expect(isLine(line) ? undefined : isLine.errors, JSON.stringify(line)).toBe(undefined);
  const event = lines.find((line) => line.event === 'code.refused');
  expect(isLine(event)).toBe(true);
  for (const other of [
    { event: 'code.taken' },
    { reason: 'guessed' },
    { level: 'warn' },
    { message: 'a new one' },
  ])
    expect(isLine({ ...event, ...other }), JSON.stringify(other)).toBe(false);
});

test('spans tell of the faults of drivers and of gRPC by class and code, without a message [R27.2]', async () => {
  // Of Postgres, of a socket, of gRPC.
  const codes = expect.arrayContaining(['P0001', 'ECONNREFUSED', '14']);
  await expect.poll(exceptionCodes, { timeout: 30_000 }).toEqual(codes);
  const refusedBy = () => {
    const stores = traces.spans().filter(({ attributes }) => attributes.has('db.response.status_code'));
    return [...new Set(stores.map(({ attributes }) => attributes.get('db.system.name')))];
  };
  await expect.poll(refusedBy, { timeout: 30_000 }).toEqual(expect.arrayContaining(['postgresql', 'redis']));
  for (const { name, status, exceptions } of traces.spans()) {
    expect(status.message, name).toBeUndefined();
    for (const exception of exceptions)
      expect([...exception.keys()], name).not.toContain('exception.message');
  }
});

test('no span contains a canary, those of the faults above neither [R27.2]', () => {
  const sent = traces.raw();
  for (const [kind, value] of flows.canaries) {
    expect(sent.includes(value) || sent.includes(encodeURIComponent(value)), `${kind} in a span`).toBe(false);
  }
});

test('the span of a refused call says what its caller is told, why, and which client it was', async () => {
  const replayed = ({ attributes }: ReceivedSpan) =>
    attributes.get('course_exchange.error.reason') === 'code.refused replayed';
  const refused = () => Object.fromEntries(traces.spans().find(replayed)?.attributes ?? []);
  await expect.poll(refused, { timeout: 30_000 }).toMatchObject({
    'rpc.method': 'courseexchange.identity.v1.TokenService/ExchangeToken',
    'rpc.response.status_code': 'FAILED_PRECONDITION',
    'error.type': 'invalid_grant',
    'course_exchange.client_id': partner.clientId,
  });
});

test('no metric contains a canary [R27.2]', async () => {
  const text = earlierMetrics + (await allMetrics());
  expect(text.split('\n').length).toBeGreaterThan(200);
  for (const [kind, value] of flows.canaries)
    expect(text.includes(value) || text.includes(encodeURIComponent(value)), `${kind} in a metric`).toBe(
      false,
    );
});

test('a log names the user by a keyed hash and the client by its client_id [R27.3]', () => {
  const lines = logLines(system).map(({ line }) => JSON.parse(line) as Record<string, unknown>);
  const users = new Set(lines.map((line) => line.user).filter((name) => name !== undefined));
  expect(users.size).toBeGreaterThan(0);
  expect([...users]).not.toContain(user.sub);
  expect(lines.map((line) => line.client)).toContain(partner.clientId);
});

test('the edge names the user as the services do, in tokens, logins, user-info and lists [R33.1]', async () => {
  const { tokens } = await flows.login();
  const bearer = { authorization: `Bearer ${tokens.access_token}` };
  const asked = async (path: string, id: string) => {
    await send(`${system.stack.issuer}${path}`, { headers: { ...bearer, 'x-request-id': id } });
    const told = () => linesOf(system, id).find(({ message }) => message === 'request')?.user;
    await expect.poll(told, { timeout: 30_000 }).toBeTypeOf('string');
    return told();
  };
  const user = await asked('/userinfo', 'user-info-with-a-user');
  expect(await asked('/api/events', 'list-with-a-user')).toBe(user);
  const told = () => records(system).filter((line) => line.user === user);
  const poll = (said: () => unknown[]) => expect.poll(said, { timeout: 30_000 });
  await poll(() => told().map(({ event, message }) => event ?? message)).toEqual(
    expect.arrayContaining(['login.accepted', 'tokens issued', 'events listed']),
  );
  await poll(() => told().flatMap(({ message, route }) => (message === 'request' ? route : []))).toEqual(
    expect.arrayContaining(['/login', '/token', '/userinfo', '/api/events']),
  );
});

test('a trace of ours leads from the route to the store and links the caller’s, sampled or not [R32.1 R32.2]', async () => {
  const callers = 'c0ffee00c0ffee00c0ffee00c0ffee00';
  const { tokens } = await flows.login();
  await send(`${system.stack.issuer}/api/events`, {
    headers: {
      authorization: `Bearer ${tokens.access_token}`,
      traceparent: `00-${callers}-00f067aa0ba902b7-00`,
      'x-request-id': 'request-of-the-trace-test',
    },
  });
  const isRoute = ({ service, attributes }: ReceivedSpan) =>
    service === 'gateway' && attributes.get('course_exchange.request_id') === 'request-of-the-trace-test';
  const route = () => traces.spans().find(isRoute);
  await expect.poll(route, { timeout: 30_000 }).toMatchObject({ parentSpanId: '', linked: [callers] });
  const own = route()?.traceId;
  const pathFromStore = () => {
    const ours = traces.spans().filter(({ traceId }) => traceId === own);
    const byId = new Map(ours.map((span) => [span.spanId, span]));
    const path: string[] = [];
    const store = ours.find(({ name }) => name.startsWith('postgres '));
    for (let at = store; at; at = byId.get(at.parentSpanId)) path.push(`${at.service} ${at.name}`);
    return path;
  };
  await expect
    .poll(pathFromStore, { timeout: 30_000 })
    .toEqual([
      expect.stringMatching(/^design-catalog postgres /),
      expect.stringMatching(/^design-catalog .*CatalogService\/ListEvents$/),
      expect.stringMatching(/^gateway .*CatalogService\/ListEvents$/),
      'gateway GET /api/events',
    ]);
  const told = linesOf(system, 'request-of-the-trace-test').map(({ service, traceId }) => [service, traceId]);
  expect(new Set(told.map(String))).toEqual(new Set([`gateway,${own}`, `design-catalog,${own}`]));
  // And back, by the trace that a line names.
  const requests = traces
    .spans()
    .filter(({ traceId }) => traceId === told[0]?.[1])
    .flatMap(({ attributes }) => attributes.get('course_exchange.request_id') ?? []);
  expect(requests).toEqual(['request-of-the-trace-test', 'request-of-the-trace-test']);
});

test('of two partners who send the same request id, each line of a grant or a list names its own [R32.3]', async () => {
  const headers = { 'x-request-id': 'request-id-of-two-partners' };
  const [, other] = twinPartners(system.stack);
  const { tokens } = await flows.login();
  const authorization = `Bearer ${tokens.access_token}`;
  await send(`${system.stack.issuer}/api/events`, { headers: { ...headers, authorization } });
  const credentials = { client_id: other.clientId, client_secret: other.clientSecret };
  const form = { ...credentials, grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
  await send(discovery.token_endpoint, { form, headers });
  const told = () =>
    linesOf(system, headers['x-request-id']).map(({ message, event, client }) => [event ?? message, client]);
  await expect.poll(told, { timeout: 30_000 }).toContainEqual(['events listed', partner.clientId]);
  await expect.poll(told, { timeout: 30_000 }).toContainEqual(['refresh_token.refused', other.clientId]);
});
