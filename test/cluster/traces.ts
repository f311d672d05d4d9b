// The example Collector of deploy/observability, run as an operator would: what it keeps of made-up spans, and one trace of a
// release through all its services.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type ReceivedSpan, spansOf } from '../support/trace-receiver.ts';
import { eventually, kubeIn, makeNamespace } from './kube.ts';
import { components, runInside } from './pods.ts';
import { monitoring, otlpPort, traceCollector } from './production.ts';
import { node, startProgram } from './programs.ts';
import { collectorImage, namespaceOf } from './settings.ts';

const configuration = readFileSync(
  new URL('../../deploy/observability/collector.yaml', import.meta.url),
  'utf8',
);
/** What the test can read. */
const readable = JSON.stringify({ exporters: { otlp_http: { encoding: 'json', compression: 'none' } } });

/** Stands in for the store of traces: prints what is exported. */
const store = 'traces';
const storePort = 8080;
const storeScript = `
  require('node:http').createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => { body += text; }).on('end', () => {
      console.log(body);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(${storePort});`;

async function kept(): Promise<readonly ReceivedSpan[]> {
  const lines = (await kubeIn(namespaceOf(monitoring)).kubectl('logs', store)).split('\n');
  return lines.filter((line) => line.startsWith('{')).flatMap(spansOf);
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

/** Resolves when the Collector runs and has been sent made-up spans. */
export async function startCollector(): Promise<void> {
  if (collectorImage === '') return;
  const observer = await makeNamespace(monitoring, 'restricted');
  await Promise.all([
    startProgram(observer, store, { ...node(storeScript), port: storePort }),
    startProgram(observer, traceCollector, {
      image: collectorImage,
      args: ['--config=/etc/program/collector.yaml', '--config=/etc/program/readable.yaml'],
      env: { TRACES_BACKEND: `http://${store}:${storePort}` },
      files: { 'collector.yaml': configuration, 'readable.yaml': readable },
      port: otlpPort,
    }),
  ]);
  const address = `http://${traceCollector}:${otlpPort}/v1/traces`;
  // Those that are kept for certain come last: when they are there, the others are decided.
  await runInside(observer, store, store, madeUpScript, address, 'ordinary:400', 'slow:20', 'error:20');
}

export function sampling(): void {
  test.skipIf(collectorImage === '')(
    'the example Collector keeps errors, slow requests, and a share of the others',
    async () => {
      const spans = await eventually(
        async () => Map.groupBy(await kept(), ({ name }) => name),
        (byName) =>
          ['slow', 'error'].every((name) => byName.get(name)?.length === 20) && byName.has('ordinary'),
      );
      expect(spans.get('ordinary')?.length).toBeLessThan(60);
    },
  );
}

/** Of what was asked of production for a while. */
export function tracing(): void {
  test.skipIf(collectorImage === '')(
    'a request is one trace from the gateway through each service',
    async () => {
      const traces = [...Map.groupBy(await kept(), ({ traceId }) => traceId).values()];
      const whole = traces.filter((spans) => rootsOf(spans) === 'gateway');
      for (const of of components)
        expect(whole.some((spans) => spans.some(({ service }) => service === of))).toBe(true);
    },
  );
}

/** Services of those spans whose parents are not among them. */
function rootsOf(spans: readonly ReceivedSpan[]): string {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  return spans
    .filter(({ parentSpanId }) => !ids.has(parentSpanId))
    .map(({ service }) => service)
    .join();
}
