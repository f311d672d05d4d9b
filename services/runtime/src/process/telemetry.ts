// Starts traces and metrics. The SDK is loaded only for an export and reads the standard OTEL_* variables. Metrics leave
// the process as Prometheus text on the health port (health.ts), or pushed to an OTLP collector.
import { setTimeout as sleep } from 'node:timers/promises';
import { metrics, propagation } from '@opentelemetry/api';
import {
  getBooleanFromEnv,
  globalErrorHandler,
  setGlobalErrorHandler,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  AggregationTemporality,
  InstrumentType,
  MeterProvider,
  MetricReader,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import project from '../../package.json' with { type: 'json' };
import type { telemetrySettings } from './base-settings.ts';
import { inOneFlight } from './coalesce.ts';
import { describeError, type Logger, summarising } from './logger.ts';
import { type MetricDefinition, measureWith, nameWithUnit } from './metrics.ts';
import { carryContextAcrossAwaits, outsideRequests } from './request-context.ts';
import { observeEventLoop } from './runtime-metrics.ts';
import type { SettingValues } from './settings.ts';

export interface Telemetry {
  readonly flush: () => Promise<void>;
  /** Prometheus text; undefined when metrics are pushed or off. */
  readonly metricsText?: () => Promise<string>;
}

/** Call once, first thing in `main`. OTEL_SERVICE_NAME overrides `service`. */
export async function startTelemetry(
  service: string,
  config: SettingValues<typeof telemetrySettings>,
  logger?: Logger,
): Promise<Telemetry> {
  const enabled = !getBooleanFromEnv('OTEL_SDK_DISABLED');
  const exporter = enabled ? config.OTEL_METRICS_EXPORTER : 'none';
  // OpenTelemetry treats an empty variable as unset.
  const endpoint = process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || config.OTEL_EXPORTER_OTLP_ENDPOINT;
  const traces = enabled && endpoint !== undefined;
  const scraped = exporter === 'prometheus' ? scrapedMetrics() : undefined;
  const flush = traces || exporter === 'otlp' ? await startSdk(service, config, traces) : withoutSdk();
  if (logger !== undefined) {
    const log = { warn: summarising(logger.warn, { mostAlike: 1, windowMs: 60_000 }) };
    const report = (error: unknown) => log.warn('telemetry was not exported', describeError(error));
    // An export runs in the context of any request.
    setGlobalErrorHandler((error) => outsideRequests(() => report(error)));
  }
  const provider = scraped?.provider ?? (exporter === 'otlp' ? metrics.getMeterProvider() : undefined);
  // A collector adds the unit to a pushed name.
  const nameOf = scraped ? nameWithUnit : ({ name }: MetricDefinition) => name;
  measureWith(provider && { meter: provider.getMeter('course-exchange'), nameOf });
  if (provider !== undefined) observeEventLoop();
  return { flush, ...(scraped && { metricsText: scraped.text }) };
}

/** Propagates the trace context for the services on both sides. */
function withoutSdk(): Telemetry['flush'] {
  carryContextAcrossAwaits();
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return async () => {};
}

async function startSdk(
  service: string,
  config: SettingValues<typeof telemetrySettings>,
  traces: boolean,
): Promise<Telemetry['flush']> {
  // The SDK reads only the environment.
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined)
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  process.env.OTEL_TRACES_SAMPLER ??= 'parentbased_traceidratio';
  process.env.OTEL_TRACES_SAMPLER_ARG = String(config.OTEL_TRACES_SAMPLER_ARG);
  process.env.OTEL_METRICS_EXPORTER = config.OTEL_METRICS_EXPORTER;
  // Its messages are not JSON lines.
  process.env.OTEL_LOG_LEVEL ??= 'none';
  const { startNodeSdk } = await import('@opentelemetry/sdk-node');
  const sdk = startNodeSdk({
    propagators: [new W3CTraceContextPropagator()],
    resourceAttributes: {
      [ATTR_SERVICE_NAME]: process.env.OTEL_SERVICE_NAME || service,
      [ATTR_SERVICE_VERSION]: project.version,
    },
    metricReaders: config.OTEL_METRICS_EXPORTER === 'otlp' ? [await pushingReader()] : [],
    ...(traces ? {} : { spanProcessors: [] }),
    logRecordProcessors: [],
  });
  // A collector that is down does not delay the stop.
  return () => Promise.race([sdk.shutdown().catch(globalErrorHandler), sleep(flushMs)]);
}

/** For the last export, in milliseconds. */
const flushMs = 3_000;

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

function scrapedMetrics() {
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
async function pushingReader(): Promise<MetricReader> {
  const { OTEL_EXPORTER_OTLP_METRICS_PROTOCOL, OTEL_EXPORTER_OTLP_PROTOCOL } = process.env;
  const { OTEL_METRIC_EXPORT_INTERVAL, OTEL_METRIC_EXPORT_TIMEOUT } = process.env;
  const protocol = OTEL_EXPORTER_OTLP_METRICS_PROTOCOL || OTEL_EXPORTER_OTLP_PROTOCOL || '';
  const load = exporters[protocol in exporters ? (protocol as keyof typeof exporters) : 'http/protobuf'];
  const { OTLPMetricExporter } = await load();
  const exportIntervalMillis = Number(OTEL_METRIC_EXPORT_INTERVAL || 60_000);
  const exportTimeoutMillis = Math.min(Number(OTEL_METRIC_EXPORT_TIMEOUT || 30_000), exportIntervalMillis);
  return new PushingReader({ exporter: new OTLPMetricExporter(), exportIntervalMillis, exportTimeoutMillis });
}
