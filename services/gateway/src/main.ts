// Starts the gateway and serves public HTTP until it is stopped.
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { logGrpcErrors } from '@course-exchange/runtime/grpc/library-log';
import { openRpcTls } from '@course-exchange/runtime/grpc/tls';
import { serveHealth } from '@course-exchange/runtime/process/health';
import { startProcess, stopOnSignal } from '@course-exchange/runtime/process/lifecycle';
import { listenOrFail } from '@course-exchange/runtime/process/listen';
import { createLogger } from '@course-exchange/runtime/process/logger';
import { startTelemetry } from '@course-exchange/runtime/process/telemetry';
import { createApp } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { createCookies } from './http/cookies.ts';
import { allRoutes } from './routes/all-routes.ts';
import { startAnswer } from './routes/browser.ts';
import { connectServices } from './services.ts';

/**
 * Milliseconds for which a new gateway may be unready without its services (many clusters cache an unknown name for
 * half a minute). Then it answers 503.
 */
const startTimeoutMs = 60_000;

async function run(config: Config): Promise<void> {
  const logger = createLogger('gateway', config.LOG_LEVEL);
  logGrpcErrors(logger);
  const telemetry = await startTelemetry('gateway', config, logger);
  const services = connectServices({
    identity: config.IDENTITY_TARGET,
    catalog: config.CATALOG_TARGET,
    timeoutMs: config.LOGIN_TIMEOUT_MS,
    now: Date.now,
    tls: openRpcTls(config.RPC_TLS_DIRECTORY, logger),
  });
  const browser = {
    authorization: services.authorization,
    cookies: createCookies(config.ISSUER),
    links: {
      passwordReset: config.LINK_PASSWORD_RESET,
      privacy: config.LINK_PRIVACY,
      imprint: config.LINK_IMPRINT,
      support: config.LINK_SUPPORT,
    },
    loginBudgetMs: config.LOGIN_TIMEOUT_MS,
    now: Date.now,
  };
  const app = createApp(allRoutes(services, browser), {
    issuer: config.ISSUER,
    logger,
    budgetMs: config.RPC_TIMEOUT_MS,
    trustedProxies: config.TRUSTED_PROXIES,
    startAnswer: (request) => startAnswer(browser, request),
    now: Date.now,
    makeRequestId: randomUUID,
  });
  // No checks: a gateway without its services still answers correctly (R14.1).
  const health = await serveHealth({
    host: config.HEALTH_HOST,
    port: config.HEALTH_PORT,
    checks: {},
    metricsText: telemetry.metricsText,
  });
  await listenOrFail('HTTP_PORT', config.HTTP_PORT, () =>
    app.listen({ host: config.HTTP_HOST, port: config.HTTP_PORT, backlog, listenTextResolver: () => '' }),
  );

  const steps = { HTTP: () => app.close(), services: services.close };
  stopOnSignal({ logger, config, health, telemetry, steps });
  void services.reached(startTimeoutMs).then(health.started);
  const { port } = app.server.address() as AddressInfo;
  logger.info('listening', { port, healthPort: health.port });
}

/** Connections that may wait to be accepted: with Node's 511, a burst of 1,000 makes others wait for a second SYN. */
const backlog = 4_096;

await startProcess(() => run(readConfig(process.env)));
