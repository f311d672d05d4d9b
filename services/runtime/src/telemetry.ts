// Traces: spans are made by hand, in one place for each kind of work (route, RPC, store operation). OTLP
// export when an endpoint is configured, nothing otherwise; the trace context is passed on either way.
import {
  type Attributes,
  context,
  propagation,
  type SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import { carryContextAcrossAwaits } from './call-context.ts';

export interface TelemetryOptions {
  readonly service: string;
  readonly version: string;
  /** OTLP/HTTP base address, `http://collector:4318`; undefined: no export. */
  readonly otlpEndpoint: string | undefined;
  /** Share of traces begun here that are kept, 0 to 1; a caller's decision is followed. */
  readonly sampleRatio: number;
}

export interface Telemetry {
  /** Sends what is still queued. */
  readonly flush: () => Promise<void>;
}

/** Call once, first thing in `main`. */
export function startTelemetry(options: TelemetryOptions): Telemetry {
  carryContextAcrossAwaits();
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  if (options.otlpEndpoint === undefined) return { flush: async () => {} };
  const exporter = new OTLPTraceExporter({ url: `${options.otlpEndpoint.replace(/\/$/, '')}/v1/traces` });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      [ATTR_SERVICE_NAME]: options.service,
      [ATTR_SERVICE_VERSION]: options.version,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.sampleRatio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  trace.setGlobalTracerProvider(provider);
  return { flush: () => provider.shutdown() };
}

const tracer = trace.getTracer('course-exchange');

/**
 * Runs `work` inside a span. A thrown error marks the span with its class, never with its message (R27).
 * `attributes` must hold nothing personal or secret.
 */
export async function inSpan<T>(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  work: () => Promise<T>,
): Promise<T> {
  const span = tracer.startSpan(name, { kind, attributes });
  if (!span.isRecording()) return work();
  return context.with(trace.setSpan(context.active(), span), async () => {
    try {
      return await work();
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
      throw error;
    } finally {
      span.end();
    }
  });
}
