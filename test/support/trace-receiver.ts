// An OTLP/HTTP collector that keeps what it is sent, so that a test can look at real spans.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ReceivedSpan = {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** Trace ids of the spans that it links. */
  readonly linked: readonly string[];
  readonly attributes: ReadonlyMap<string, unknown>;
  /** Attributes of its events `exception`. */
  readonly exceptions: readonly ReadonlyMap<string, unknown>[];
  readonly status: { readonly code?: number; readonly message?: string };
};

export type TraceReceiver = {
  readonly endpoint: string;
  /** Everything that was sent, as it was sent. */
  readonly raw: () => string;
  readonly spans: () => readonly ReceivedSpan[];
  readonly stop: () => Promise<void>;
};

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
type Export = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Record<string, unknown> & {
        attributes?: readonly Attribute[];
        links?: readonly { readonly traceId: string }[];
        events?: readonly { readonly name: string; readonly attributes?: readonly Attribute[] }[];
        status?: ReceivedSpan['status'];
      })[];
    }[];
  }[];
};

export async function receiveTraces(): Promise<TraceReceiver> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      bodies.push(Buffer.concat(chunks).toString('utf8'));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    raw: () => bodies.join('\n'),
    spans: () => bodies.flatMap(spansOf),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Of the body of an export in JSON. */
export function spansOf(body: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body) as Export;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes).get('service.name'));
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service,
        name: String(span.name),
        traceId: String(span.traceId),
        spanId: String(span.spanId),
        parentSpanId: String(span.parentSpanId ?? ''),
        linked: (span.links ?? []).map(({ traceId }) => traceId),
        attributes: attributesOf(span.attributes ?? []),
        exceptions: (span.events ?? [])
          .filter(({ name }) => name === 'exception')
          .map(({ attributes = [] }) => attributesOf(attributes)),
        status: span.status ?? {},
      })),
    );
  });
}

function attributesOf(attributes: readonly Attribute[]): ReadonlyMap<string, unknown> {
  return new Map(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
