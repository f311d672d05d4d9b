// An OTLP/HTTP collector that keeps what it is sent, so that a test can look at real spans.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

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

export type TraceReceiver = Awaited<ReturnType<typeof receiveTraces>>;

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> };
type Span = Readonly<Record<'name' | 'traceId' | 'spanId' | 'parentSpanId', string | undefined>> & {
  readonly attributes?: readonly Attribute[];
  readonly links?: readonly { readonly traceId: string }[];
  readonly events?: readonly { readonly name: string; readonly attributes?: readonly Attribute[] }[];
  readonly status?: ReceivedSpan['status'];
};
type Export = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
};

export async function receiveTraces() {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Everything that was sent, as it was sent. */
    raw: () => bodies.join('\n'),
    spans: () => bodies.flatMap(spansOf),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Of the body of an export in JSON. */
function spansOf(body: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body) as Export;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(attributesOf(resource.attributes).get('service.name'));
    const spans = scopeSpans.flatMap((scope) => scope.spans);
    return spans.map(({ name = '', traceId = '', spanId = '', parentSpanId = '', ...span }) => ({
      ...{ service, name, traceId, spanId, parentSpanId },
      linked: (span.links ?? []).map((link) => link.traceId),
      attributes: attributesOf(span.attributes),
      exceptions: (span.events ?? []).flatMap((event) =>
        event.name === 'exception' ? [attributesOf(event.attributes)] : [],
      ),
      status: span.status ?? {},
    }));
  });
}

function attributesOf(attributes: readonly Attribute[] = []): ReadonlyMap<string, unknown> {
  return new Map(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
