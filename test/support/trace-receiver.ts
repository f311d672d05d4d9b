// An OTLP/HTTP collector that keeps what it is sent, so that a test can look at real spans.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

type Attributes = Readonly<Record<string, unknown>>;

export interface ReceivedSpan {
  readonly service: unknown;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly links: readonly { readonly traceId: string }[];
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[];
  readonly status?: { readonly message?: string };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly spans: readonly Partial<ReceivedSpan>[] }[];
  }[];
}

export type TraceReceiver = Awaited<ReturnType<typeof receiveTraces>>;

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

const absent = { name: '', traceId: '', spanId: '', parentSpanId: '', links: [], attributes: {}, events: [] };

/** Of the body of an export in JSON. */
function spansOf(body: string): ReceivedSpan[] {
  const { resourceSpans } = JSON.parse(body, flattened) as Export;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource.attributes['service.name'];
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...absent, ...span, service })));
  });
}

/** A reviver: a list of attributes becomes an object of their plain values. */
function flattened(key: string, value: unknown): unknown {
  if (key !== 'attributes') return value;
  const list = value as readonly { readonly key: string; readonly value: Attributes }[];
  return Object.fromEntries(list.map((one) => [one.key, Object.values(one.value)[0]]));
}
