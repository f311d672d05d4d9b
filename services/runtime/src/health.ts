// Liveness and readiness over plain HTTP on a port of its own, for probes and people.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { claimPort } from './taken-port.ts';

/** A named condition of readiness. Returns undefined when it holds, else one sentence that says what is wrong. */
export type ReadinessCheck = () => Promise<string | undefined>;

/** Below the second that a probe waits by default, so that it reads the sentence and not a timeout (ms). */
const checkTimeoutMs = 700;

export interface HealthOptions {
  /** `0.0.0.0:7101` apart. */
  readonly host: string;
  readonly port: number;
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** Sentences that an operator should read but that do not make the process unready. */
  readonly warnings?: Readonly<Record<string, ReadinessCheck>>;
}

export interface Health {
  readonly port: number;
  /** Until the first call `/readyz` says "starting". */
  readonly started: () => void;
  /** From now on `/readyz` says "stopping". */
  readonly stopping: () => void;
  readonly close: () => Promise<void>;
}

type Phase = 'starting' | 'running' | 'stopping';

/**
 * `GET /livez` is 200 while the event loop turns. `GET /readyz` is 200 when all checks hold, else 503 with
 * `{"phase": …, "checks": {name: sentence}}`; both carry `"warnings": {name: sentence}` where there are any. A check
 * that says nothing for 700 ms fails with "<Name> does not answer in time". Throws ConfigurationError when the port
 * is taken.
 */
export async function serveHealth({ host, port, checks, warnings = {} }: HealthOptions): Promise<Health> {
  let phase: Phase = 'starting';
  const server = createServer(async (request, response) => {
    if (request.url === '/livez') return reply(200, { phase });
    if (request.url !== '/readyz') return reply(404, { error: 'not_found' });
    const [failed, warned] =
      phase === 'running' ? await Promise.all([failures(checks), failures(warnings)]) : [{}, {}];
    const ready = phase === 'running' && Object.keys(failed).length === 0;
    const detail = Object.keys(warned).length === 0 ? {} : { warnings: warned };
    return reply(ready ? 200 : 503, { phase, checks: failed, ...detail });

    function reply(status: number, body: unknown): void {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }
  });
  const listen = () =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, host, resolve);
    });
  await claimPort('HEALTH_PORT', port, listen);
  return {
    port: (server.address() as AddressInfo).port,
    started: () => {
      phase = 'running';
    },
    stopping: () => {
      phase = 'stopping';
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function failures(checks: HealthOptions['checks']): Promise<Record<string, string>> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await answerInTime(name, check)] as const),
  );
  return Object.fromEntries(results.filter((result): result is [string, string] => result[1] !== undefined));
}

async function answerInTime(name: string, check: ReadinessCheck): Promise<string | undefined> {
  const late = `${name.charAt(0).toUpperCase()}${name.slice(1)} does not answer in time`;
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(late), checkTimeoutMs);
  });
  const answer = await Promise.race([check().catch(() => 'Check failed'), timeUp]);
  clearTimeout(timer);
  return answer;
}
