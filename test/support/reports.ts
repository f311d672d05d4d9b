// What the services of a system report: their log lines, their metrics, and their spans to an OTLP collector.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readSpans } from '@course-exchange/local-stack/observe/telemetry';
import { send } from './http.ts';
import type { System } from './system.ts';

export function logLines({ logs }: System): readonly string[] {
  const files = readdirSync(logs).filter((file) => /^(gateway|identity|design-catalog)/.test(file));
  return files.flatMap((file) => readFileSync(join(logs, file), 'utf8').split('\n').filter(Boolean));
}

export function records(system: System, requestId?: string): readonly Record<string, unknown>[] {
  const all = logLines(system).map((line) => JSON.parse(line) as Record<string, unknown>);
  return requestId === undefined ? all : all.filter((line) => line.requestId === requestId);
}

/** What all services have counted. Throws where one does not answer. */
export async function metricsOf({ stack: { addresses } }: System): Promise<string> {
  const texts = ['gateway', 'identity', 'design-catalog'].map(async (name) => {
    // Not over the connection that was left when a service was killed, or had said nothing for five seconds.
    const headers = { connection: 'close' };
    const answer = await send(`${addresses?.[`${name} health`]}/metrics`, { headers });
    if (answer.status !== 200) throw new Error(`${name} answers /metrics with ${answer.status}`);
    return answer.text;
  });
  return (await Promise.all(texts)).join('');
}

const counter =
  /^course_exchange_security_events_total\{event="(.*)",reason="(.*)",client_id=".*"\} (\d+)$/gm;

/** `event reason` for each that `metrics` counted, and for each that was logged. */
export function securityEvents(system: System, metrics: string): readonly (readonly string[])[] {
  const counted = [...metrics.matchAll(counter)].flatMap(([, event, reason, times]) =>
    Array<string>(Number(times)).fill(`${event} ${reason}`),
  );
  const logged = records(system).flatMap(({ event, reason = '', repeated = 1 }) =>
    event ? Array<string>(Number(repeated)).fill(`${event} ${reason}`) : [],
  );
  return [counted.toSorted(), logged.toSorted()];
}

/** A collector that keeps what it is sent. */
export async function receiveTraces() {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    raw: () => bodies.join('\n'),
    spans: () => bodies.flatMap((body) => readSpans(JSON.parse(body))),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export type TraceReceiver = Awaited<ReturnType<typeof receiveTraces>>;
