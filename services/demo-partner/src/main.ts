// The demo partner as a process: reads its configuration, opens its file, serves pages until told to stop.
// It starts whether or not the provider answers; the pages say so while it does not.
import { randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveHealth } from '@course-exchange/runtime/health';
import { createLifecycle, waitForEndpointsToSpread } from '@course-exchange/runtime/lifecycle';
import { createLogger } from '@course-exchange/runtime/logger';
import { startProcess } from '@course-exchange/runtime/process-start';
import { claimPort } from '@course-exchange/runtime/taken-port';
import { createApp } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { createPartner } from './partner.ts';
import { openDatabase } from './store/database.ts';

async function main(config: Config): Promise<void> {
  const logger = createLogger('demo-partner', config.LOG_LEVEL);
  const lifecycle = createLifecycle({ logger, stopWithParent: config.STOP_WITH_PARENT });
  const database = openDatabase(config.DATABASE_FILE);
  const partner = createPartner({
    issuer: config.ISSUER,
    clientId: config.CLIENT_ID,
    clientSecret: config.CLIENT_SECRET,
    scopes: config.SCOPES,
    publicUrl: config.PUBLIC_URL,
    encryptionKey: config.TOKEN_ENCRYPTION_KEY,
    database,
    logger,
    now: Date.now,
    sleep,
    randomBytes,
    newRequestId: randomUUID,
    random: Math.random,
  });
  const app = await createApp(partner);
  const health = await serveHealth({ host: config.HEALTH_HOST, port: config.HEALTH_PORT, checks: {} });
  await claimPort('HTTP_PORT', config.HTTP_PORT, () =>
    app.listen({ host: config.HTTP_HOST, port: config.HTTP_PORT }),
  );
  lifecycle.onStop('readiness', health.stopping);
  lifecycle.onStop('spread', () => waitForEndpointsToSpread(config.SHUTDOWN_DELAY_MS));
  lifecycle.onStop('http', () => app.close());
  lifecycle.onStop('health', health.close);
  lifecycle.onStop('database', () => database.close());
  health.started();
  const { port } = app.server.address() as AddressInfo;
  logger.info('listening', { port, healthPort: health.port });
}

await startProcess(() => main(readConfig(process.env)));
