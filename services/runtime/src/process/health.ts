// Liveness, readiness and deep health over plain HTTP.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { timeBudget } from '@course-exchange/rules/time-budget';
import { listenOrFail } from './listen.ts';

/** Returns a sentence about the fault; undefined when the condition holds. */
export type ReadinessCheck = () => Promise<string | undefined>;

type Checks = Readonly<Record<string, ReadinessCheck>>;

const metricsType = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };

/** Between two checks of `startupGate` (ms). */
const settlingPauseMs = 500;

export interface HealthChecks<Name extends string = string> {
  readonly checks: Readonly<Record<Name, ReadinessCheck>>;
  /** Must have passed once before traffic comes, and do not count later: every pod depends on the same stores. */
  readonly startupGate?: readonly NoInfer<Name>[];
  /** Checks of this process alone, which must hold whenever traffic comes. */
  readonly readinessGate?: readonly NoInfer<Name>[];
  /** For an operator to read, without being a fault. */
  readonly warnings?: Checks;
}

export interface HealthOptions<Name extends string = string> extends HealthChecks<Name> {
  readonly host: string;
  readonly port: number;
  /** Prometheus text for `GET /metrics`; 404 if absent. */
  readonly metricsText?: (() => Promise<string>) | undefined;
}

export type Health = Awaited<ReturnType<typeof serveHealth>>;

type Phase = 'starting' | 'running' | 'stopping';
interface Report {
  readonly checks: Record<string, string>;
  readonly warnings?: Record<string, string>;
}

/**
 * `GET /livez` is 200 while the event loop runs, `GET /readyz` while traffic should come, `GET /healthz` while all
 * checks hold; otherwise 503 with `{"phase": …, "checks": {name: sentence}}`. Throws ConfigurationError when the port
 * is taken.
 */
export async function serveHealth<Name extends string>(options: HealthOptions<Name>) {
  const { host, port } = options;
  let phase: Phase = 'starting';
  const readiness = openReadiness(options);
  const reports: Readonly<Record<string, () => Promise<Report>>> = {
    '/readyz': readiness.report,
    '/healthz': () => deepHealth(options),
  };
  const server = createServer(async (request, response) => {
    if (request.url === '/livez') return reply(200, { phase });
    if (request.url === '/metrics' && options.metricsText !== undefined)
      return answerMetrics(response, options.metricsText);
    const report = reports[request.url ?? ''];
    if (report === undefined) return reply(404, { error: 'not_found' });
    const found = phase === 'running' ? await report() : { checks: {} };
    const well = phase === 'running' && Object.keys(found.checks).length === 0;
    return reply(well ? 200 : 503, { phase, ...found });

    function reply(status: number, body: unknown): void {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    }
  });
  await listenOrFail('HEALTH_PORT', port, () => once(server.listen(port, host), 'listening'));
  return {
    port: (server.address() as AddressInfo).port,
    started: (): void => {
      if (phase !== 'starting') return;
      phase = 'running';
      void readiness.settle(() => phase === 'running');
    },
    stopping: (): void => {
      phase = 'stopping';
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** A partial answer would look like a restart. */
async function answerMetrics(response: ServerResponse, metricsText: () => Promise<string>): Promise<void> {
  const text = await metricsText().catch(() => undefined);
  response.writeHead(text === undefined ? 503 : 200, metricsType).end(text);
}

async function deepHealth({ checks, warnings = {} }: HealthChecks): Promise<Report> {
  const [failed, warned] = await Promise.all([failures(checks), failures(warnings)]);
  return { checks: failed, ...(Object.keys(warned).length === 0 ? {} : { warnings: warned }) };
}

function openReadiness({ checks, startupGate = [], readinessGate = [] }: HealthChecks) {
  const awaited = new Set<string>(startupGate);
  const report = async (): Promise<Report> => {
    const asked = [...awaited, ...readinessGate];
    const failed = await failures(
      Object.fromEntries(Object.entries(checks).filter(([name]) => asked.includes(name))),
    );
    for (const name of asked) if (failed[name] === undefined) awaited.delete(name);
    return { checks: failed };
  };
  /** Without waiting for a probe. */
  const settle = async (running: () => boolean): Promise<void> => {
    while (awaited.size > 0 && running()) {
      await report();
      await sleep(settlingPauseMs, undefined, { ref: false });
    }
  };
  return { report, settle };
}

async function failures(checks: Checks): Promise<Record<string, string>> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await answerInTime(name, check)] as const),
  );
  return Object.fromEntries(results.filter((result): result is [string, string] => result[1] !== undefined));
}

function answerInTime(name: string, check: ReadinessCheck): Promise<string | undefined> {
  const timedOut = `${name.charAt(0).toUpperCase()}${name.slice(1)} does not answer in time`;
  return Promise.race([
    check().catch(() => 'Check failed'),
    sleep(timeBudget.check, timedOut, { ref: false }),
  ]);
}
