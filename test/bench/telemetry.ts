// What telemetry costs (decision 0022): the same requests to systems that differ in it alone, side by side in the same
// rounds. "Off again" is a second system without telemetry: how far it is from 1 is the noise of the run.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { table } from '../generate/page.ts';
import { startCourseExchange } from './course-exchange.ts';
import { measure, prepareAll, ratioOf, spreadOf } from './measure.ts';
import { type Operation, operations, type Subject } from './subject.ts';

const off = { OTEL_METRICS_EXPORTER: 'none' };
const metrics = { OTEL_METRICS_EXPORTER: 'prometheus' };

function variants(collector: string): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const traces = (share: string, endpoint: string) => {
    return { ...metrics, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: share };
  };
  return {
    off,
    'off again': off,
    metrics,
    'metrics, traces at 1 %': traces('0.01', collector),
    'metrics, traces at 100 %': traces('1', collector),
    // The discard port: nobody listens.
    'the same, and the collector is away': traces('1', 'http://127.0.0.1:9'),
  };
}

/** A table of `chosen`, 8 at a time. */
export async function measureTelemetry(
  root: string,
  chosen: readonly Operation[],
  rounds: number,
): Promise<string> {
  const collector = createServer((request, response) => {
    request
      .resume()
      .on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end());
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const open: Subject[] = [];
  try {
    const { port } = collector.address() as AddressInfo;
    for (const [name, environment] of Object.entries(variants(`http://127.0.0.1:${port}`)))
      open.push(await startCourseExchange(name, root, environment));
    const lines: string[][] = [];
    for (const operation of chosen) lines.push(...(await compared(open, operation, rounds)));
    return table(['operation', 'telemetry', 'µs', '÷ off'], lines);
  } finally {
    for (const subject of open.toReversed()) await subject.stop();
    collector.close();
  }
}

async function compared(
  subjects: readonly Subject[],
  operation: Operation,
  rounds: number,
): Promise<string[][]> {
  const { costs } = await measure(await prepareAll(subjects, operation, 8), operation, 8, rounds);
  const [base] = costs.values();
  if (base === undefined) throw new Error(`${operation} was not measured`);
  return [...costs].map(([{ name }, cost]) => {
    const { median, least, most } = ratioOf(cost, base);
    const ratio = `${median.toFixed(3)} (${least.toFixed(2)}–${most.toFixed(2)})`;
    return [operations[operation], name, String(Math.round(spreadOf(cost.perRequest).median)), ratio];
  });
}
