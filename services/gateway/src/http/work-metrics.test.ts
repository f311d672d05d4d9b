// What is refused for overload is counted, by class and reason.
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { expect, onTestFinished, test } from 'vitest';
import { serveGateway } from '../../testing/served-gateway.ts';

test('a request that is queued too long is counted as refused, in its class', async () => {
  const { metricsText } = await startTelemetry('gateway', {
    OTEL_EXPORTER_OTLP_ENDPOINT: undefined,
    OTEL_METRICS_EXPORTER: 'prometheus',
    OTEL_TRACES_SAMPLER_ARG: 1,
  });
  // A turn needs more than this.
  const gateway = await serveGateway({ budgetMs: 500 });
  onTestFinished(gateway.close);
  for (const path of ['/userinfo', '/api/events', '/api/events'])
    expect((await fetch(gateway.origin + path)).status).toBe(503);
  const refused = (await metricsText?.())?.match(/(?<=^course_exchange_work_refused_total).*/gm);
  expect(refused?.toSorted()).toEqual([
    '{work="list",reason="queued too long"} 2',
    '{work="other",reason="queued too long"} 1',
  ]);
});
