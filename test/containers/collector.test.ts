// deploy/observability/collector.yaml in an OpenTelemetry Collector: which traces it keeps.
import { createHash } from 'node:crypto';
import { imageOf } from '@course-exchange/testcontainers/images';
import { startNetwork } from '@course-exchange/testcontainers/stores';
import { GenericContainer, Wait } from 'testcontainers';
import { expect, test } from 'vitest';
import { read } from '../docs/documents.ts';
import { handleOf } from './system.ts';

const image = process.env.COLLECTOR_IMAGE ?? '';
/** Stands in for the store of traces: prints what is exported. */
const store = `require('node:http').createServer(async (request, response) => {
  console.log(Buffer.concat(await request.toArray()).toString());
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}).listen(8080)`;
/** What the test can read. */
const readable = JSON.stringify({ exporters: { otlp_http: { encoding: 'json', compression: 'none' } } });

/** Traces of one span. Their ids are the same each time, and so is what a share of them is. */
const tracesOf = (name: string, count: number, tookMs: number) =>
  Array.from({ length: count }, (_, index) => {
    const id = createHash('sha256').update(`${name}${index}`).digest('hex');
    return {
      ...{ traceId: id.slice(0, 32), spanId: id.slice(32, 48), name, kind: 2 },
      startTimeUnixNano: `${BigInt(Date.now() - tookMs) * 1_000_000n}`,
      endTimeUnixNano: `${BigInt(Date.now()) * 1_000_000n}`,
      status: name === 'error' ? { code: 2 } : {},
    };
  });

test.skipIf(image === '')('the Collector keeps errors, slow requests and a share of the others', async () => {
  const network = await startNetwork();
  const backend = await new GenericContainer(imageOf('gateway'))
    .withNetwork(network)
    .withNetworkAliases('traces')
    .withCommand(['--eval', store])
    .start();
  const collector = await new GenericContainer(image)
    .withNetwork(network)
    .withExposedPorts(4318)
    .withEnvironment({ TRACES_BACKEND: 'http://traces:8080' })
    .withCopyContentToContainer([
      { target: '/collector.yaml', content: read('deploy/observability/collector.yaml') },
      { target: '/readable.yaml', content: readable },
    ])
    .withCommand(['--config=/collector.yaml', '--config=/readable.yaml'])
    .withWaitStrategy(Wait.forLogMessage(/Everything is ready/))
    .start();
  const spans = [
    ...tracesOf('ordinary', 400, 50),
    ...tracesOf('slow', 20, 700),
    ...tracesOf('error', 20, 50),
  ];
  const address = `http://${collector.getHost()}:${collector.getMappedPort(4318)}/v1/traces`;
  const body = JSON.stringify({ resourceSpans: [{ resource: {}, scopeSpans: [{ spans }] }] });
  const headers = { 'content-type': 'application/json' };
  expect(await fetch(address, { method: 'POST', headers, body })).toMatchObject({ status: 200 });
  const kept = async () => {
    const exported = await (await handleOf(backend)).logs({ stdout: true, follow: false });
    const names = `${exported}`.match(/(?<="name":")(error|slow|ordinary)/g) ?? [];
    return Object.fromEntries(
      [...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]),
    );
  };
  const ordinary = expect.toSatisfy((count: number) => count < 60);
  await expect.poll(kept, { timeout: 60_000 }).toEqual({ error: 20, slow: 20, ordinary });
});
