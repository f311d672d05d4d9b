// The example Collector of deploy/observability, run as an operator would: what it keeps of made-up spans, and one trace of a
// release through all its services.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { send } from '../support/http.ts';
import { type ReceivedSpan, spansOf } from '../support/trace-receiver.ts';
import { type Environment, makeNamespace } from './environment.ts';
import { figure } from './figures.ts';
import { eventually, type Kube } from './kube.ts';
import { components, runInside } from './pods.ts';
import { collectorImage } from './settings.ts';
import { service } from './store-manifests.ts';
import { node, startTool } from './tools.ts';
import { monitoring, otlpPort, traceCollector } from './values.ts';

const configuration = readFileSync(
  new URL('../../deploy/observability/collector.yaml', import.meta.url),
  'utf8',
);
/** What the test can read. */
const readable = JSON.stringify({ exporters: { otlp_http: { encoding: 'json', compression: 'none' } } });

/** Stands in for the store of traces: prints who exports, and what. */
const store = 'traces';
const storePort = 8080;
const storeScript = `
  require('node:http').createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => { body += text; }).on('end', () => {
      console.log(request.url.split('/')[1] + ' ' + body);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(${storePort});`;

/** A Collector of that name, with the store; gives the namespace of both. */
async function startCollector(name: string, env: Readonly<Record<string, string>>): Promise<Kube> {
  const observer = await makeNamespace(monitoring, 'restricted');
  await observer.apply(service(store, storePort), service(name, otlpPort));
  await startTool(observer, store, { ...node(storeScript), port: storePort });
  await startTool(observer, name, {
    image: collectorImage,
    args: ['--config=/etc/tool/collector.yaml', '--config=/etc/tool/readable.yaml'],
    env: { TRACES_BACKEND: `http://${store}:${storePort}/${name}`, ...env },
    files: { 'collector.yaml': configuration, 'readable.yaml': readable },
    port: otlpPort,
  });
  return observer;
}

async function keptBy(observer: Kube, name: string): Promise<readonly ReceivedSpan[]> {
  const lines = (await observer.kubectl('logs', store)).split('\n');
  return lines
    .filter((line) => line.startsWith(`${name} `))
    .flatMap((line) => spansOf(line.slice(name.length + 1)));
}

/** Words: address, then `name:count`. The ids are always the same, and so is what a share of them is. */
const madeUpScript = `
  const { createHash } = require('node:crypto');
  const [address, ...kinds] = process.argv.slice(1);
  const now = BigInt(Date.now()) * 1_000_000n;
  const spans = kinds.flatMap((words) => {
    const [name, count] = words.split(':');
    return Array.from({ length: Number(count) }, (_, index) => {
      const id = createHash('sha256').update(name + index).digest('hex');
      const start = now - (name === 'slow' ? 700_000_000n : 50_000_000n);
      return { traceId: id.slice(0, 32), spanId: id.slice(32, 48), name, kind: 2, startTimeUnixNano: String(start),
        endTimeUnixNano: String(now), status: name === 'error' ? { code: 2 } : {} };
    });
  });
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'made-up' } }] };
  const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
  // The Service may not lead to a new pod yet.
  const post = () => fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    .then(({ status }) => { if (status !== 200) throw new Error(String(status)); })
    .catch((error) => { console.error(error); setTimeout(post, 500); });
  post();`;

export function sampling(): void {
  test.skipIf(collectorImage === '')(
    'the example Collector keeps errors, slow requests, and a share of the others',
    async () => {
      const name = 'sampling';
      const observer = await startCollector(name, {});
      const address = `http://${name}:${otlpPort}/v1/traces`;
      // Those that are kept for certain come last: when they are there, the others are decided.
      await runInside(observer, store, store, madeUpScript, address, 'ordinary:400', 'slow:20', 'error:20');
      const counts = async () => {
        const byName = Map.groupBy(await keptBy(observer, name), (span) => span.name);
        return Object.fromEntries([...byName].map(([kind, spans]) => [kind, spans.length]));
      };
      // The Collector has several exports under way at once.
      const kept = await eventually(
        counts,
        ({ slow = 0, error = 0, ordinary = 0 }) => slow >= 20 && error >= 20 && ordinary > 0,
      );
      figure('the Collector keeps of 400 ordinary, 20 slow, 20 failed', JSON.stringify(kept));
      expect(kept.ordinary).toBeLessThan(60);
    },
  );
}

/** The Collector that the values of a test environment name, which keeps all. */
export async function startTraces(): Promise<Kube | undefined> {
  return collectorImage === '' ? undefined : startCollector(traceCollector, { ORDINARY_PERCENT: '100' });
}

/** Of a key nobody has heard of: design-catalog asks identity for it, at most once in a while. */
function strangeToken(): string {
  const parts = [{ alg: 'ES256', typ: 'at+jwt', kid: `unheard-of-${Date.now()}` }, {}];
  return [
    ...parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')),
    'A'.repeat(86),
  ].join('.');
}

/** A request's way through the gateway, design-catalog and identity is one trace there. */
export async function expectTraceThroughAll(observer: Kube, { issuer }: Environment): Promise<void> {
  const traces = async () => {
    const headers = { authorization: `Bearer ${strangeToken()}` };
    await send(`${issuer}/api/events`, { headers });
    const byTrace = Map.groupBy(await keptBy(observer, traceCollector), ({ traceId }) => traceId);
    return [...byTrace.values()].filter(
      (spans) =>
        components.every((component) => spans.some((span) => span.service === component)) &&
        rootsOf(spans) === 'gateway GET /api/events',
    );
  };
  const [trace = []] = await eventually(traces, ({ length }) => length > 0);
  figure('one trace', trace.map(({ service, name }) => `${service}: ${name}`).join('; '));
}

/** Of the spans whose parents are not among them, all. */
function rootsOf(spans: readonly ReceivedSpan[]): string {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const roots = spans.filter(({ parentSpanId }) => !ids.has(parentSpanId));
  return roots.map(({ service, name }) => `${service} ${name}`).join();
}
