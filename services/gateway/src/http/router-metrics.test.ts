// What metrics and the access line say of an answer, over a real socket.
import { Failure } from '@course-exchange/runtime/process/errors';
import { nameSubject } from '@course-exchange/runtime/process/request-context';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { serveGateway } from '../../testing/served-gateway.ts';

const { metricsText = () => Promise.reject(new Error('no metrics')) } = await startTelemetry('gateway', {
  OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
  OTEL_METRICS_EXPORTER: 'prometheus',
  OTEL_TRACES_SAMPLER_ARG: 1,
});
let refusal: string | undefined;
let named: string | undefined;
const asked = Promise.withResolvers<void>();
const gateway = await serveGateway({
  answers: {
    getUserInfo: () => Promise.reject(new Failure('temporarily_unavailable')),
    exchangeToken: async () => {
      nameSubject({ client: named });
      if (refusal !== undefined) throw new Failure(refusal);
      return { accessToken: 'a' };
    },
    beginAuthorization: () => {
      asked.resolve();
      return new Promise<never>(() => {});
    },
  },
  trustedProxies: ['127.0.0.1'],
});
afterAll(() => gateway.close());

/** Lines of the text that name all of `parts`. */
async function series(...parts: readonly string[]): Promise<readonly string[]> {
  return (await metricsText()).split('\n').filter((line) => parts.every((part) => line.includes(part)));
}

test('a client is named once its secret or token was verified, also in a refusal', async () => {
  const body = new URLSearchParams({ grant_type: 'refresh_token' });
  const requests: readonly [code: string | undefined, client: string | undefined][] = [
    ['invalid_client', undefined],
    // Its first answer of all, and one that its token is refused.
    ['invalid_grant', 'acme'],
    ['invalid_client', undefined],
    // Identity does not say who it was.
    ['temporarily_unavailable', undefined],
    [undefined, 'acme'],
  ];
  for (const [index, [code, client]] of requests.entries()) {
    [refusal, named] = [code, client];
    const id = `request-010${index}`;
    const headers = { authorization: `Basic ${btoa('acme:secret')}`, 'x-request-id': id };
    await fetch(`${gateway.origin}/token`, { method: 'POST', headers, body });
    await expect.poll(() => gateway.accessLine(id)).toBeDefined();
    const line = gateway.accessLine(id);
    expect([line?.code, line?.client]).toEqual([code, client]);
  }
  const name = 'course_exchange_client_requests_total';
  const label = (client: string, code?: string) =>
    `${name}{client_id="${client}",http_route="/token"${code ? `,error_type="${code}"` : ''}}`;
  expect((await series(name, '/token')).toSorted()).toEqual([
    `${label('acme', 'invalid_grant')} 1`,
    `${label('acme')} 1`,
    `${label('unknown', 'invalid_client')} 2`,
    `${label('unknown', 'temporarily_unavailable')} 1`,
  ]);
});

test('requests and calls are measured by route, status and code', async () => {
  await fetch(`${gateway.origin}/userinfo`, { headers: { 'x-request-id': 'request-0004' } });
  await expect
    .poll(() => gateway.accessLine('request-0004'))
    .toMatchObject({ code: 'temporarily_unavailable' });
  const answered = ['http_route="/userinfo"', 'status_code="503"', 'error_type="temporarily_unavailable"'];
  expect(await series('http_server_request_duration_seconds_count', ...answered)).toHaveLength(1);
  for (const side of ['client', 'server'])
    expect(
      await series(
        `rpc_${side}_call_duration_seconds_count`,
        'rpc_method="courseexchange.identity.v1.TokenService/GetUserInfo"',
        'error_type="temporarily_unavailable"',
      ),
    ).toHaveLength(1);
});

test('the scheme is that of the request as the proxy got it, and nothing that a caller makes up', async () => {
  for (const proto of ['https', 'gopher'])
    await fetch(`${gateway.origin}/.well-known/jwks.json`, { headers: { 'x-forwarded-proto': proto } });
  const schemes = async () =>
    (await series('http_server_request_duration_seconds_count', 'http_route="/.well-known/jwks.json"'))
      .map((line) => /url_scheme="(.*?)"/.exec(line)?.[1])
      .toSorted();
  await expect.poll(schemes).toEqual(['http', 'https']);
});

test('unknown paths, and methods that no route takes, are one series', async () => {
  for (const path of ['/one', '/two']) await fetch(`${gateway.origin}${path}`);
  for (const method of ['PURGE', 'LINK', 'UNLINK']) await fetch(`${gateway.origin}/none`, { method });
  await expect
    .poll(() => series('http_server_request_duration_seconds_count', 'status_code="404"'))
    .toEqual([
      expect.stringMatching(
        /\{http_request_method="GET",url_scheme="http",http_response_status_code="404"\} 2$/,
      ),
      expect.stringMatching(
        /\{http_request_method="_OTHER",url_scheme="http",http_response_status_code="404"\} 3$/,
      ),
    ]);
});

/** What is in progress while an answer waits for its reader. */
let inProgress: readonly string[] = [];

test('an unread answer is counted and logged, without a status if it had not begun', async () => {
  const head = 'Host: x\r\nX-Request-Id: request-0005';
  const leave = asked.promise.then(async () => {
    inProgress = (
      await Promise.all(
        ['work_running', 'calls_in_flight', 'rpc_client_streams'].map((name) => series(name, '} ')),
      )
    ).flat();
  });
  await gateway.raw(`GET /authorize?client_id=x HTTP/1.1\r\n${head}\r\n\r\n`, leave);
  await expect
    .poll(() => gateway.accessLine('request-0005'))
    .toMatchObject({ route: '/authorize', aborted: true });
  expect(gateway.accessLine('request-0005')).not.toHaveProperty('status');
  expect(await series('http_server_request_duration_seconds_count', 'connection_closed')).toEqual([
    'http_server_request_duration_seconds_count{http_request_method="GET",url_scheme="http",http_route="/authorize",error_type="connection_closed"} 1',
  ]);
});

test('work in flight is reported by class, by method at both ends of a call, and by stream', () => {
  const method = 'rpc_method="courseexchange.identity.v1.AuthorizationService/BeginAuthorization"';
  expect(inProgress).toContain('course_exchange_work_running{work="other"} 1');
  expect(inProgress).toContain('course_exchange_work_running{work="list"} 0');
  for (const side of ['client', 'server'])
    expect(inProgress).toContain(`course_exchange_rpc_${side}_calls_in_flight{${method}} 1`);
  expect(inProgress).toContainEqual(
    expect.stringMatching(
      /^course_exchange_rpc_client_streams\{server_address=".*",state="serving"\} [1-6]$/,
    ),
  );
});

test('a refusal by Node, before there is a request, is counted by its status', async () => {
  expect(await gateway.raw('GET / HTTP/1.1\r\nno header\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
  const long = `X-Long: ${'x'.repeat(20_000)}`;
  expect(await gateway.raw(`GET / HTTP/1.1\r\n${long}\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 /);
  const refused = await series('http_server_request_duration_seconds_count', '="_OTHER"');
  for (const status of [400, 431])
    expect(refused.filter((line) => line.endsWith(`status_code="${status}"} 1`))).toHaveLength(1);
});

test('a request that is queued too long is counted as refused, in its class', async () => {
  // Less than an admission needs.
  const impatient = await serveGateway({ budgetMs: 500 });
  onTestFinished(impatient.close);
  for (const path of ['/userinfo', '/api/events', '/api/events'])
    expect((await fetch(impatient.origin + path)).status).toBe(503);
  expect((await series('course_exchange_work_refused_total{')).toSorted()).toEqual([
    'course_exchange_work_refused_total{work="list",reason="queued_too_long"} 2',
    'course_exchange_work_refused_total{work="other",reason="queued_too_long"} 1',
  ]);
});
