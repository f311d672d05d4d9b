// What the services of a system tell: their log lines and their metrics.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { send } from '../support/http.ts';
import type { StackFile } from '../support/stack-file.ts';
import type { System } from '../support/system.ts';

export function logLines({ logs }: System): { readonly service: string; readonly line: string }[] {
  return readdirSync(logs)
    .filter((file) => /^(gateway|identity|design-catalog)/.test(file))
    .flatMap((file) =>
      readFileSync(join(logs, file), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => ({ service: file, line })),
    );
}

export function records(system: System): readonly Record<string, unknown>[] {
  return logLines(system).map(({ line }) => JSON.parse(line) as Record<string, unknown>);
}

export function linesOf(system: System, requestId: string): readonly Record<string, unknown>[] {
  return records(system).filter((line) => line.requestId === requestId);
}

/** By service. Throws where one does not answer. */
export async function metricsOf({ addresses }: StackFile): Promise<ReadonlyMap<string, string>> {
  const texts = ['gateway', 'identity', 'design-catalog'].map(async (name) => {
    // Not over the connection that was left when a service was killed, or had said nothing for five seconds.
    const headers = { connection: 'close' };
    const { status, text } = await send(`${addresses?.[`${name} health`]}/metrics`, { headers });
    if (status !== 200) throw new Error(`${name} answers /metrics with ${status}`);
    return [name, text] as const;
  });
  return new Map(await Promise.all(texts));
}

const counter =
  /^course_exchange_security_events_total\{event="(.*)",reason="(.*)",client_id=".*"\} (\d+)$/gm;

/** `event reason` for each that `metrics` counted. */
export function countedEvents(metrics: string): readonly string[] {
  return [...metrics.matchAll(counter)].flatMap(([, event, reason, times]) =>
    Array<string>(Number(times)).fill(`${event} ${reason}`),
  );
}

/** `event reason` for each that was logged. */
export function loggedEvents(system: System): readonly string[] {
  return records(system).flatMap(({ event, reason = '' }) =>
    event === undefined ? [] : [`${event} ${reason}`],
  );
}
