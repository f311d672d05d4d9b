// The gateway process: public HTTP in, gRPC to identity and design-catalog out. Nothing else is
// constructed elsewhere.
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { serveHealth } from '@course-exchange/runtime/health';
import { createLifecycle, waitForEndpointsToSpread } from '@course-exchange/runtime/lifecycle';
import { createLogger } from '@course-exchange/runtime/logger';
import { startProcess } from '@course-exchange/runtime/process-start';
import { openRpcTls } from '@course-exchange/runtime/rpc-tls';
import { claimPort } from '@course-exchange/runtime/taken-port';
import { startTelemetry } from '@course-exchange/runtime/telemetry';
import { createApp } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { allRoutes } from './routes/all-routes.ts';
import { createCookies } from './wire/cookies.ts';
import { connectServices } from './wire/services.ts';

/**
 * As long a new gateway takes no traffic because it has not reached its services yet (ms): a name that was asked for too
 * early stays unknown for as long as DNS remembers that, half a minute in many clusters. Then it answers truthfully.
 */
const patienceMs = 60_000;

async function run(config: Config): Promise<void> {
  const logger = createLogger('gateway', config.LOG_LEVEL);
  const telemetry = startTelemetry({
    service: 'gateway',
    version: '0.1.0',
    otlpEndpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    sampleRatio: config.OTEL_TRACES_SAMPLER_ARG,
  });
  const lifecycle = createLifecycle({ logger, stopWithParent: config.STOP_WITH_PARENT });
  const services = connectServices({
    identity: config.IDENTITY_TARGET,
    catalog: config.CATALOG_TARGET,
    timeoutMs: config.LOGIN_TIMEOUT_MS,
    tls: openRpcTls(config.RPC_TLS_DIRECTORY, logger),
  });
  const site = {
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
  const app = createApp(allRoutes(services, site), {
    issuer: config.ISSUER,
    logger,
    budgetMs: config.RPC_TIMEOUT_MS,
    trustedProxies: config.TRUSTED_PROXIES,
    now: Date.now,
    makeRequestId: randomUUID,
  });
  // No checks: a gateway without its services still answers people and partners truthfully (R14).
  const health = await serveHealth({ host: config.HEALTH_HOST, port: config.HEALTH_PORT, checks: {} });
  await claimPort('HTTP_PORT', config.HTTP_PORT, () =>
    app.listen({ host: config.HTTP_HOST, port: config.HTTP_PORT, listenTextResolver: () => '' }),
  );

  lifecycle.onStop('readiness off', health.stopping);
  lifecycle.onStop('wait', () => waitForEndpointsToSpread(config.SHUTDOWN_DELAY_MS));
  lifecycle.onStop('http', () => app.close());
  lifecycle.onStop('services', services.close);
  lifecycle.onStop('telemetry', telemetry.flush);
  lifecycle.onStop('health', health.close);
  void services.reached(patienceMs).then(health.started);
  const { port } = app.server.address() as AddressInfo;
  logger.info('listening', { port, healthPort: health.port });
}

await startProcess(() => run(readConfig(process.env)));
