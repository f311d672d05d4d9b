// What services say of their work, as far as the page shows it: spans, which they export by OTLP over HTTP with JSON, and log
// lines, which are read from their files as they are written.
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { z } from 'zod';

const attributes = z
  .array(z.object({ key: z.string(), value: z.record(z.string(), z.unknown()) }))
  .default([])
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, textOf(value)])));

/** Nanoseconds, which a number of JSON does not hold exactly, become milliseconds. */
const time = z.union([z.string().regex(/^\d{1,20}$/), z.number()]).transform((ns) => Number(ns) / 1e6);

const kinds = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

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
    /** STATUS_CODE_ERROR. */
    failed: status?.code === 2,
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

export type LogLine = NonNullable<ReturnType<typeof readLogLine>>;

export function readLogLine(text: string) {
  try {
    const { time: written, ...line } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const texts = Object.entries(line).map(([key, value]) => [key, String(value)] as const);
    const all: Readonly<Record<string, string>> = Object.fromEntries(texts);
    const {
      service = '',
      level = '',
      message = '',
      requestId = '',
      traceId = '',
      spanId = '',
      ...fields
    } = all;
    const time = Date.parse(String(written));
    if (Number.isNaN(time)) return undefined;
    return { service, time, level, message, requestId, traceId, spanId, fields };
  } catch {
    return undefined;
  }
}

/** Each call passes on the lines that `file` has gained since the last one. The file may not exist yet. */
export function followFile(file: string, take: (text: string) => void): () => void {
  let offset = 0;
  return () => {
    const added = readFrom(file, offset);
    const whole = added.lastIndexOf('\n') + 1;
    for (const text of added.toString('utf8', 0, whole).split('\n').filter(Boolean)) take(text);
    offset += whole;
  };
}

function readFrom(file: string, offset: number): Buffer {
  if (!existsSync(file)) return Buffer.alloc(0);
  const descriptor = openSync(file, 'r');
  try {
    const added = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - offset));
    readSync(descriptor, added, 0, added.length, offset);
    return added;
  } finally {
    closeSync(descriptor);
  }
}
