// Spans as services export them: OTLP over HTTP with JSON, as far as the page shows it.
import { z } from 'zod';

const attributes = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .default([])
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, textOf(value)])));

/** Nanoseconds, which a number of JSON does not hold exactly, become milliseconds. */
const time = z.union([z.string().regex(/^\d{1,20}$/), z.number()]).transform((ns) => Number(ns) / 1e6);

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const errorStatus = 2;

const event = z
  .object({ name: z.string(), timeUnixNano: time, attributes })
  .transform(({ timeUnixNano, ...rest }) => ({ ...rest, time: timeUnixNano }));

const span = z
  .object({
    name: z.string(),
    kind: z.number().default(0),
    traceId: z.string().regex(/^[0-9a-f]{32}$/),
    spanId: z.string().regex(/^[0-9a-f]{16}$/),
    /** '' of the first span of a trace. */
    parentSpanId: z.string().default(''),
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    attributes,
    events: z.array(event).default([]),
    status: z.object({ code: z.number().default(0) }).optional(),
  })
  .transform(({ startTimeUnixNano, endTimeUnixNano, kind, status, ...rest }) => ({
    ...rest,
    kind: kinds[kind] ?? 'internal',
    start: startTimeUnixNano,
    end: endTimeUnixNano,
    failed: status?.code === errorStatus,
  }));

const exported = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes }).optional(),
      scopeSpans: z.array(z.object({ spans: z.array(span) })),
    }),
  ),
});

export type Span = z.output<typeof span> & { readonly service: string };

/** Throws if `body` is no export of traces. */
export function readSpans(body: unknown): readonly Span[] {
  return exported.parse(body).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource?.attributes['service.name'] ?? '';
    return scopeSpans.flatMap(({ spans }) => spans.map((one) => ({ ...one, service })));
  });
}

/** `{"stringValue": "x"}`, `{"intValue": "5"}` and lists of these. */
function textOf(value: Readonly<Record<string, unknown>>): string {
  const [content] = Object.values(value);
  return typeof content === 'object' ? JSON.stringify(content) : String(content);
}
