// How metrics leave the process: read from the health port (health.ts) in Prometheus' text, or pushed to an OTLP collector.
// Both say the same: a gauge has no value once its source is gone, and one that does not come in time is left out.
import type { InstrumentType, MetricReader } from '@opentelemetry/sdk-metrics';
import { nameWithUnit } from './metrics.ts';
import { inOneFlight } from './one-flight.ts';
import type { Recorder } from './recorder.ts';

/** How long a reading waits for its gauges: a scraper waits some seconds, a store that hangs for ever (ms). */
const gaugesMs = 1_000;

export async function scrapedMetrics(recorder: Recorder) {
  const [{ AggregationTemporality, InstrumentType, MeterProvider, MetricReader }, { PrometheusSerializer }] =
    await Promise.all([import('@opentelemetry/sdk-metrics'), import('@opentelemetry/exporter-prometheus')]);
  class ScrapedReader extends MetricReader {
    protected async onShutdown(): Promise<void> {}
    protected async onForceFlush(): Promise<void> {}
  }
  const { CUMULATIVE, DELTA } = AggregationTemporality;
  const reader = new ScrapedReader({
    aggregationTemporalitySelector: (type) => (type === InstrumentType.OBSERVABLE_GAUGE ? DELTA : CUMULATIVE),
  });
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  const read = async (): Promise<string> => {
    const collected = reader.collect({ timeoutMillis: gaugesMs });
    const { resource, scopeMetrics } = (await recorder.join(collected, reader)).resourceMetrics;
    const named = scopeMetrics.map(({ scope, metrics }) => ({
      scope,
      metrics: metrics.map((metric) => ({
        ...metric,
        descriptor: { ...metric.descriptor, name: nameWithUnit(metric.descriptor) },
      })),
    }));
    return `${serializer.serialize({ resource, scopeMetrics: named })}\n`;
  };
  return {
    provider: new MeterProvider({ readers: [reader] }),
    /** Those who ask at once share a reading: the gauges of one are not there for another. */
    text: inOneFlight(read),
  };
}

const exporters = {
  grpc: () => import('@opentelemetry/exporter-metrics-otlp-grpc'),
  'http/json': () => import('@opentelemetry/exporter-metrics-otlp-http'),
  'http/protobuf': () => import('@opentelemetry/exporter-metrics-otlp-proto'),
};

/** As the SDK would make it of the standard OTEL_* variables, but for its gauges. */
export async function pushingReader(recorder: Recorder): Promise<MetricReader> {
  const { OTEL_EXPORTER_OTLP_METRICS_PROTOCOL, OTEL_EXPORTER_OTLP_PROTOCOL } = process.env;
  const { OTEL_METRIC_EXPORT_INTERVAL, OTEL_METRIC_EXPORT_TIMEOUT } = process.env;
  const protocol = OTEL_EXPORTER_OTLP_METRICS_PROTOCOL || OTEL_EXPORTER_OTLP_PROTOCOL || '';
  const [{ AggregationTemporality, InstrumentType, PeriodicExportingMetricReader }, { OTLPMetricExporter }] =
    await Promise.all([
      import('@opentelemetry/sdk-metrics'),
      exporters[protocol in exporters ? (protocol as keyof typeof exporters) : 'http/protobuf'](),
    ]);
  class PushingReader extends PeriodicExportingMetricReader {
    override selectAggregationTemporality(type: InstrumentType) {
      if (type === InstrumentType.OBSERVABLE_GAUGE) return AggregationTemporality.DELTA;
      return super.selectAggregationTemporality(type);
    }
    override collect() {
      return recorder.join(super.collect({ timeoutMillis: gaugesMs }), this);
    }
  }
  const exportIntervalMillis = Number(OTEL_METRIC_EXPORT_INTERVAL || 60_000);
  const exportTimeoutMillis = Math.min(Number(OTEL_METRIC_EXPORT_TIMEOUT || 30_000), exportIntervalMillis);
  return new PushingReader({ exporter: new OTLPMetricExporter(), exportIntervalMillis, exportTimeoutMillis });
}
