// Starts the gateway and serves public HTTP until it is stopped.
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { runProcess } from '@course-exchange/runtime/grpc/process';
import { listenOrFail } from '@course-exchange/runtime/process/listen';
import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import { createCookies } from './http/cookies.ts';
import { allRoutes } from './routes/all-routes.ts';
import { startAnswer } from './routes/browser.ts';
import { connectServices } from './services.ts';

/**
 * Milliseconds for which a new gateway may be unready without its services (many clusters cache an unknown name for
 * half a minute). Then it answers 503.
 */
const startTimeoutMs = 60_000;

/** Connections that may wait to be accepted: with Node's 511, a burst of 1,000 makes others wait for a second SYN. */
const backlog = 4_096;

await runProcess('gateway', readConfig, async (config, logger, tls) => {
  const services = connectServices({
    identity: config.IDENTITY_TARGET,
    catalog: config.CATALOG_TARGET,
    timeoutMs: config.LOGIN_TIMEOUT_MS,
    now: Date.now,
    tls,
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
  await listenOrFail('HTTP_PORT', config.HTTP_PORT, () =>
    app.listen({ host: config.HTTP_HOST, port: config.HTTP_PORT, backlog, listenTextResolver: () => '' }),
  );
  return {
    // A gateway without its services still answers correctly (R14.1).
    health: { checks: {} },
    steps: { HTTP: () => app.close(), services: services.close },
    ports: { port: (app.server.address() as AddressInfo).port },
    reached: services.reached(startTimeoutMs),
  };
});
