// Metrics leave the process as Prometheus text on the health port (health.ts), or pushed to an OTLP collector.
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  AggregationTemporality,
  InstrumentType,
  MeterProvider,
  MetricReader,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { inOneFlight } from './one-flight.ts';

/** The SDK would repeat a gone gauge's last value forever. */
function temporality(type: InstrumentType): AggregationTemporality {
  return type === InstrumentType.OBSERVABLE_GAUGE
    ? AggregationTemporality.DELTA
    : AggregationTemporality.CUMULATIVE;
}

class ScrapedReader extends MetricReader {
  protected async onShutdown(): Promise<void> {}
  protected async onForceFlush(): Promise<void> {}
}

export function scrapedMetrics() {
  const reader = new ScrapedReader({ aggregationTemporalitySelector: temporality });
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  return {
    provider: new MeterProvider({ readers: [reader] }),
    /** Concurrent scrapes share a reading: a gauge's value is handed out once. */
    text: inOneFlight(async () => {
      const { resourceMetrics } = await reader.collect();
      return `${serializer.serialize(resourceMetrics)}\n`;
    }),
  };
}

const exporters = {
  grpc: () => import('@opentelemetry/exporter-metrics-otlp-grpc'),
  'http/json': () => import('@opentelemetry/exporter-metrics-otlp-http'),
  'http/protobuf': () => import('@opentelemetry/exporter-metrics-otlp-proto'),
};

class PushingReader extends PeriodicExportingMetricReader {
  override selectAggregationTemporality(type: InstrumentType): AggregationTemporality {
    return type === InstrumentType.OBSERVABLE_GAUGE
      ? temporality(type)
      : super.selectAggregationTemporality(type);
  }
}

/** Follows the standard OTEL_* variables like the SDK, except for gauges. */
export async function pushingReader(): Promise<MetricReader> {
  const { OTEL_EXPORTER_OTLP_METRICS_PROTOCOL, OTEL_EXPORTER_OTLP_PROTOCOL } = process.env;
  const { OTEL_METRIC_EXPORT_INTERVAL, OTEL_METRIC_EXPORT_TIMEOUT } = process.env;
  const protocol = OTEL_EXPORTER_OTLP_METRICS_PROTOCOL || OTEL_EXPORTER_OTLP_PROTOCOL || '';
  const load = exporters[protocol in exporters ? (protocol as keyof typeof exporters) : 'http/protobuf'];
  const { OTLPMetricExporter } = await load();
  const exportIntervalMillis = Number(OTEL_METRIC_EXPORT_INTERVAL || 60_000);
  const exportTimeoutMillis = Math.min(Number(OTEL_METRIC_EXPORT_TIMEOUT || 30_000), exportIntervalMillis);
  return new PushingReader({ exporter: new OTLPMetricExporter(), exportIntervalMillis, exportTimeoutMillis });
}
