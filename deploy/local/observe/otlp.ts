// Spans as services export them: OTLP over HTTP with JSON, as far as the page shows it.
import { z } from 'zod';

export interface SpanEvent {
  readonly name: string;
  /** Milliseconds since the epoch, with the microseconds behind the point; so are all times here. */
  readonly time: number;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface Span {
  readonly service: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly traceId: string;
  readonly spanId: string;
  /** '' of the first span of a trace. */
  readonly parentSpanId: string;
  readonly start: number;
  readonly end: number;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, string>>;
  readonly events: readonly SpanEvent[];
}

const attributes = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .default([])
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, textOf(value)])));

/** Nanoseconds: a number of JSON does not hold them exactly. */
const time = z.union([z.string().regex(/^\d{1,20}$/), z.number()]).transform((ns) => Number(ns) / 1e6);

const span = z.object({
  name: z.string(),
  kind: z.number().default(0),
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z.string().default(''),
  startTimeUnixNano: time,
  endTimeUnixNano: time,
  attributes,
  events: z.array(z.object({ name: z.string(), timeUnixNano: time, attributes })).default([]),
  status: z.object({ code: z.number().default(0) }).optional(),
});

const exported = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes }).optional(),
      scopeSpans: z.array(z.object({ spans: z.array(span) })),
    }),
  ),
});

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const errorStatus = 2;

/** Throws where `body` is no export of traces. */
export function readSpans(body: string): readonly Span[] {
  return exported.parse(JSON.parse(body)).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ startTimeUnixNano, endTimeUnixNano, events, kind, status, ...rest }) => ({
        ...rest,
        service: resource?.attributes['service.name'] ?? '',
        kind: kinds[kind] ?? 'internal',
        start: startTimeUnixNano,
        end: endTimeUnixNano,
        failed: status?.code === errorStatus,
        events: events.map(({ timeUnixNano, ...event }) => ({ ...event, time: timeUnixNano })),
      })),
  );
}

/** `{"stringValue": "x"}`, `{"intValue": "5"}` and lists of these. */
function textOf(value: Readonly<Record<string, unknown>>): string {
  const [content] = Object.values(value);
  return typeof content === 'object' ? JSON.stringify(content) : String(content);
}
