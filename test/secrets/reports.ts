// What the services of a system report: their log lines and their metrics.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { send } from '../support/http.ts';
import type { System } from '../support/system.ts';

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
    const { status, text } = await send(`${addresses?.[`${name} health`]}/metrics`, { headers });
    if (status !== 200) throw new Error(`${name} answers /metrics with ${status}`);
    return text;
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
