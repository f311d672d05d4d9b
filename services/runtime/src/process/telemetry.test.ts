// What the standard OTEL_* variables change, each in a process that sends real spans to a real receiver.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);

/** Makes `SPANS` spans, says so with a request id, then waits for the end of its standard input, then stops. */
const program = `
  import { context, ROOT_CONTEXT } from '@opentelemetry/api';
  import { telemetrySettings } from ${module('./base-settings.ts')};
  import { createLogger } from ${module('./logger.ts')};
  import { withCall } from ${module('./request-context.ts')};
  import { readSettings } from ${module('./settings.ts')};
  import { inSpan } from ${module('./spans.ts')};
  import { startTelemetry } from ${module('./telemetry.ts')};
  import { setTimeout as sleep } from 'node:timers/promises';
  const logger = createLogger('identity', 'info');
  const withRequestId = (work) => context.with(withCall(ROOT_CONTEXT, 'request-0001', 0), work);
  const telemetry = await startTelemetry('identity', readSettings(telemetrySettings, process.env, []), logger);
  for (let made = 0; made < Number(process.env.SPANS); made += 1) await inSpan('test' + ' span', 1, {}, async () => {});
  await withRequestId(async () => {
    await sleep(1);
    logger.info('made');
  });
  for await (const _ of process.stdin);
  await telemetry.flush();
  logger.info('stopped');
  process.exit(0);
`;

type Environment = Readonly<Record<string, string>>;

/** `made`: its spans. `stop` gives what it wrote, once it has ended by itself. */
function startProgram(environment: Environment) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { PATH: process.env.PATH, OTEL_METRICS_EXPORTER: 'none', SPANS: '5', ...environment },
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let written = '';
  const { promise: made, resolve } = Promise.withResolvers<void>();
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    written += part;
    if (/"requestId":"request-0001",.*"made"/.test(written)) resolve();
  });
  const ended = once(child, 'close');
  return {
    made,
    stop: async (): Promise<string> => {
      await made;
      child.stdin.end();
      expect(await ended).toEqual([0, null]);
      expect(written).toContain('"stopped"');
      return written;
    },
  };
}

interface Received {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An OTLP/HTTP receiver, which first does `before` to each request's connection. */
async function startReceiver(before: (socket: Socket) => Promise<void> = async () => {}) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    await before(request.socket);
    if (request.socket.destroyed) return;
    const body = (await buffer(request)).toString('latin1');
    received.push({ url: request.url, headers: request.headers, body });
    response.writeHead(200, { 'content-type': String(request.headers['content-type']) }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { endpoint, received };
}

function spansIn({ body }: Pick<Received, 'body'>): number {
  return body.split('test span').length - 1;
}

/** What a collector receives of five spans. */
async function exported(environment: Environment): Promise<readonly Received[]> {
  const { endpoint, received } = await startReceiver();
  await startProgram({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...environment }).stop();
  return received;
}

test('OTEL_EXPORTER_OTLP_ENDPOINT gets all spans by the stop, with the name and version of the service', async () => {
  const [request, ...others] = await exported({});
  expect(others).toEqual([]);
  expect(request).toMatchObject({
    url: '/v1/traces',
    headers: { 'content-type': 'application/x-protobuf' },
    body: expect.stringMatching(/service\.name[^a-z]*identity/),
  });
  expect(request?.body).toContain('service.version');
  expect(spansIn(request as Received)).toBe(5);
});

test('the address of traces alone and the name of the service', async () => {
  const { endpoint, received } = await startReceiver();
  await startProgram({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/tenant/traces`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_SERVICE_NAME: 'identity-blue',
  }).stop();
  expect(received).toMatchObject([
    { url: '/tenant/traces', headers: { 'content-type': 'application/json' } },
  ]);
  const attributes = JSON.parse(received[0]?.body ?? '').resourceSpans[0].resource.attributes;
  expect(attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'identity-blue' } });
});

test.each<Environment>([
  { OTEL_SDK_DISABLED: 'TRUE' },
  { OTEL_TRACES_SAMPLER: 'always_off' },
  { OTEL_TRACES_SAMPLER_ARG: '0' },
])('%o: nothing is sent', async (environment) => {
  expect(await exported(environment)).toEqual([]);
});

test('each failure has one line while it is away, and the process stops as usual', async () => {
  let broken = 0;
  const { endpoint } = await startReceiver(async (socket) => {
    broken += 1;
    socket.destroy();
  });
  const { stop } = startProgram({
    SPANS: '50',
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_TIMEOUT: '100',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
  });
  await expect.poll(() => broken).toBeGreaterThan(3);
  const lines = await stop();
  // A busy machine adds a second failure: an export that took too long.
  const reported = lines.split('\n').filter((line) => line.includes('"telemetry was not exported"'));
  const failures = reported.map((line) => JSON.stringify({ ...JSON.parse(line), time: '' }));
  expect(failures).not.toHaveLength(0);
  expect([...new Set(failures)]).toEqual(failures);
  expect(lines).not.toContain('"level":"error"');
});
