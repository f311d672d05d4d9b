// A canary for each kind of R27 is put through every flow, well and badly, with stores up and down, between services that speak
// mutual TLS; then every log line, every exported span and every metric is searched for each of them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withClient } from '@course-exchange/local-stack/postgres';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { logEventsSchema } from '../generate/observability.ts';
import { createAuthority, mount } from '../rpc/certificate-authority.ts';
import { send } from '../support/http.ts';
import {
  logLines,
  metricsOf,
  receiveTraces,
  records,
  securityEvents,
  type TraceReceiver,
} from '../support/reports.ts';
import { type Partner, partnersFor } from '../support/stack-file.ts';
import { type System, startSystem } from '../support/system.ts';
import { type Flows, openFlows } from './flows.ts';

/** RPC_TLS_DIRECTORY. To each port its caller is the gateway. */
const certificates = mkdtempSync(join(tmpdir(), 'course-exchange-canaries-'));
let traces: TraceReceiver;
let system: System;
/** Those of processes that are killed later. */
let earlierMetrics = '';
let flows: Flows;

beforeAll(async () => {
  const authority = await createAuthority();
  const issued = await authority.issue(['localhost', 'gateway']);
  mount(certificates, { ...issued, authority: authority.certificate });
  traces = await receiveTraces();
  system = await startSystem(({ ports }) => ({
    RPC_TLS_DIRECTORY: certificates,
    IDENTITY_TARGET: `dns:///localhost:${ports.identity}`,
    CATALOG_TARGET: `dns:///localhost:${ports['design-catalog']}`,
    LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: traces.endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '500',
  }));
  flows = await openFlows(system);
});
afterAll(async () => {
  await system?.stop();
  await traces?.stop();
  rmSync(certificates, { recursive: true });
});

/** By a token that is spent: its refusal comes from Redis. */
const answersAgain = ({ tokens }: Awaited<ReturnType<Flows['login']>>) =>
  expect.poll(async () => (await flows.refresh(tokens.refresh_token)).status).toBe(400);

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
    await answersAgain(good);
  }
  await flows.operate();
  await flows.login();
  expect(flows.canaries.size).toBeGreaterThan(40);
  expect(logLines(system).length).toBeGreaterThan(100);
});

test('the security events that were counted are those that were logged, by event and reason [R33.2]', async () => {
  // A login that its caller gave up while a store was away may still end.
  const both = async () => securityEvents(system, await metricsOf(system)).map(String);
  await expect.poll(both).toSatisfy(([counted, logged]) => counted === logged);
  expect(new Set(securityEvents(system, await metricsOf(system))[0]).size).toBeGreaterThan(8);
});

/** What spans say was thrown. */
const exceptions = () =>
  traces.spans().flatMap(({ events }) => events.filter(({ name }) => name === 'exception'));
const exceptionCodes = () => [
  ...new Set(exceptions().map(({ attributes }) => attributes['course_exchange.exception.code'])),
];

test('and with services killed, which ends what they have counted', async () => {
  // What a process has not exported yet dies with it.
  await expect.poll(exceptionCodes).toContain('ECONNREFUSED');
  earlierMetrics = await metricsOf(system);
  const good = await flows.login();
  for (const service of ['identity', 'design-catalog'] as const) {
    await system.kill(service);
    await flows.misuse(good);
    await system.start(service);
    await answersAgain(good);
  }
  await flows.failInTheDrivers();
});

test('no log line contains a canary, and every line is JSON, as the schema says [R27.1 R33.2]', () => {
  for (const line of logLines(system)) flows.expectNone(line, line);
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
  // The codes of Postgres, of a socket, of gRPC.
  const codes = expect.arrayContaining(['P0001', 'ECONNREFUSED', '14']);
  await expect.poll(exceptionCodes).toEqual(codes);
  const refusedBy = () => {
    const stores = traces.spans().filter(({ attributes }) => 'db.response.status_code' in attributes);
    return [...new Set(stores.map(({ attributes }) => attributes['db.system.name']))];
  };
  await expect.poll(refusedBy).toEqual(expect.arrayContaining(['postgresql', 'redis']));
  expect(traces.raw()).not.toMatch(/"status":\{[^}]*"message"/);
  for (const { attributes } of exceptions()) expect(attributes).not.toHaveProperty(['exception.message']);
});

test('no span and no metric contains a canary, after the faults above neither [R27.2]', async () => {
  flows.expectNone(traces.raw(), 'a span');
  const metrics = earlierMetrics + (await metricsOf(system));
  expect(metrics.split('\n').length).toBeGreaterThan(200);
  flows.expectNone(metrics, 'a metric');
});

test('no record of a refusal contains a canary, at any endpoint (R34.2)', async () => {
  const { postgres = '' } = system.stack;
  const kept = async () =>
    (await withClient(postgres, (client) => client.query('select * from identity.refusals'))).rows;
  const endpoints = async () => new Set((await kept()).map(({ endpoint }) => endpoint));
  await expect.poll(endpoints).toEqual(new Set(['token', 'authorization', 'userinfo']));
  flows.expectNone(JSON.stringify(await kept()), 'a record');
});

test('logs of all services name the client by its client_id and the user by one keyed hash [R27.3 R33.1]', async () => {
  const { tokens } = await flows.login();
  const authorization = `Bearer ${tokens.access_token}`;
  const asked = async (path: string, id: string) => {
    await send(`${system.stack.issuer}${path}`, { headers: { authorization, 'x-request-id': id } });
    const logged = () => records(system, id).find(({ message }) => message === 'request')?.user;
    await expect.poll(logged).toBeTypeOf('string');
    return logged();
  };
  const user = await asked('/userinfo', 'user-info-with-a-user');
  expect(user).not.toBe(flows.user.sub);
  expect(await asked('/api/events', 'list-with-a-user')).toBe(user);
  const logged = () => records(system).filter((line) => line.user === user);
  await expect
    .poll(() => logged().map(({ event, message, route }) => route ?? event ?? message))
    .toEqual(
      expect.arrayContaining([
        ...['login.accepted', 'tokens issued', 'events listed'],
        ...['/login', '/token', '/userinfo', '/api/events'],
      ]),
    );
  expect(logged().map(({ client }) => client)).toContain(flows.partner.clientId);
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
  const route = () =>
    traces
      .spans()
      .find(
        ({ service, attributes }) =>
          service === 'gateway' && attributes['course_exchange.request_id'] === 'request-of-the-trace-test',
      );
  await expect.poll(route).toMatchObject({ parentSpanId: '' });
  expect(traces.raw()).toMatch(new RegExp(`"links":\\[\\{[^}]*"traceId":"${callers}"`));
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
    .poll(pathFromStore)
    .toEqual([
      expect.stringMatching(/^design-catalog postgres /),
      expect.stringMatching(/^design-catalog .*CatalogService\/ListEvents$/),
      expect.stringMatching(/^gateway .*CatalogService\/ListEvents$/),
      'gateway GET /api/events',
    ]);
  const logged = records(system, 'request-of-the-trace-test').map(
    ({ service, traceId }) => `${service} ${traceId}`,
  );
  expect(new Set(logged)).toEqual(new Set([`gateway ${own}`, `design-catalog ${own}`]));
});

test('each line of a grant or a list names its partner when two send the same request id [R32.3]', async () => {
  const id = 'request-id-of-two-partners';
  const [one, other] = partnersFor(system.stack, 'openid', 'email', 'profile') as [Partner, Partner];
  const { tokens } = await flows.login();
  const headers = { 'x-request-id': id, authorization: `Bearer ${tokens.access_token}` };
  await send(`${system.stack.issuer}/api/events`, { headers });
  const credentials = { client_id: other.clientId, client_secret: other.clientSecret };
  const form = { ...credentials, grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
  await send(flows.discovery.token_endpoint, { form, headers: { 'x-request-id': id } });
  const logged = () => records(system, id).map(({ message, event, client }) => [event ?? message, client]);
  await expect.poll(logged).toContainEqual(['events listed', one.clientId]);
  await expect.poll(logged).toContainEqual(['refresh_token.refused', other.clientId]);
});
