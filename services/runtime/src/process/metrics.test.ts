// Metrics as they leave the process: pushed to an OTLP collector, or answered to Prometheus.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { metrics } from '@opentelemetry/api';
import { expect, onTestFinished, test, vi } from 'vitest';
import { counter, gauge, upDownCounter } from './metrics.ts';
import { startTelemetry } from './telemetry.ts';

/** Metrics pushed as JSON: the bodies that came, and what pushes the rest of them. */
async function pushed() {
  const bodies: string[] = [];
  const collector = createServer(async (request, response) => {
    bodies.push(`${request.url} ${await text(request)}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    collector.close();
    metrics.disable();
    vi.unstubAllEnvs();
  });
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json');
  const telemetry = await startTelemetry('identity', {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_METRICS_EXPORTER: 'otlp',
    OTEL_TRACES_SAMPLER_ARG: 1,
  });
  return { bodies, telemetry };
}

async function scraped(): Promise<() => Promise<string>> {
  const { metricsText } = await startTelemetry('identity', {
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_TRACES_SAMPLER_ARG: 1,
  });
  if (metricsText === undefined) throw new Error('no metrics');
  return metricsText;
}

const vanishing = gauge({ name: 'course_exchange.keys', unit: '{key}', labels: ['kid'], about: 'Keys' });

test('OTEL_METRICS_EXPORTER=otlp: metrics are pushed, the last of them at the stop, and not answered', async () => {
  const { bodies, telemetry } = await pushed();
  expect(telemetry.metricsText).toBeUndefined();
  upDownCounter({ name: 'course_exchange.open', unit: '{test}', labels: [], about: 'Open' }).observe(() => [
    [2, {}],
  ]);
  counter({ name: 'course_exchange.test', unit: '{test}', labels: ['code'], about: 'Tests' }).add({
    code: 'x',
  });
  await telemetry.flush();
  const last = bodies.at(-1);
  expect(last).toMatch(/^\/v1\/metrics .*"name":"course_exchange\.test".*"stringValue":"x"/);
  expect(last).toMatch(
    /"name":"course_exchange\.open".*?"sum":\{"aggregationTemporality":2,"isMonotonic":false,"dataPoints"/,
  );
  expect(last).toContain('"service.name","value":{"stringValue":"identity"}');
});

test('a gauge is pushed with its present value, as a scraper gets it', async () => {
  vi.stubEnv('OTEL_METRIC_EXPORT_INTERVAL', '50');
  const { bodies, telemetry } = await pushed();
  const keys = ['one', 'two'];
  vanishing.observe(() => keys.map((kid) => [1, { kid }]));
  const said = () => bodies.at(-1)?.match(/(?<=key":"kid","value":\{"stringValue":")\w+/g);
  await expect.poll(said).toEqual(['one', 'two']);
  keys.shift();
  await expect.poll(said).toEqual(['two']);
  await telemetry.flush();
});

test('a gauge that has a value no more is left out', async () => {
  const metricsText = await scraped();
  const keys = ['one', 'two'];
  vanishing.observe(() => keys.map((kid) => [1, { kid }]));
  const said = async () => (await metricsText()).match(/(?<=^course_exchange_keys\{kid=")\w+/gm);
  expect(await said()).toEqual(['one', 'two']);
  keys.shift();
  expect(await said()).toEqual(['two']);
});

test('a gauge whose store hangs is left out, the rest is answered, and the store is asked once', async () => {
  const metricsText = await scraped();
  let asked = 0;
  const hung = gauge({ name: 'course_exchange.hung', unit: '{test}', labels: [], about: 'Hung' });
  hung.observe(() => {
    asked += 1;
    return new Promise(() => {});
  });
  vanishing.observe(() => [[1, { kid: 'known' }]]);
  for (const text of [await metricsText(), await metricsText()]) {
    expect(text).toContain('kid="known"} 1');
    expect(text).not.toContain('course_exchange_hung{');
    expect(text).not.toMatch(/^course_exchange_hung /m);
  }
  expect(asked).toBe(1);
});
