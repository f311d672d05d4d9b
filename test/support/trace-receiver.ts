// An OTLP/HTTP collector that keeps what it is sent, so that a test can look at real spans.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type ReceivedSpan = {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly attributes: ReadonlyMap<string, unknown>;
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
      readonly spans: readonly (Record<string, unknown> & { attributes?: readonly Attribute[] })[];
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
    spans: () => bodies.flatMap((body) => spansOf(JSON.parse(body) as Export)),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function spansOf({ resourceSpans }: Export): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes).get('service.name'));
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        service,
        name: String(span.name),
        traceId: String(span.traceId),
        spanId: String(span.spanId),
        parentSpanId: String(span.parentSpanId ?? ''),
        attributes: attributesOf(span.attributes ?? []),
      })),
    );
  });
}

function attributesOf(attributes: readonly Attribute[]): ReadonlyMap<string, unknown> {
  return new Map(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
