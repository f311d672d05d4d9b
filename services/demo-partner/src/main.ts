// The demo partner's process. It starts even while the provider is down; the pages say so.
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import { createApp } from './app.ts';
import { type Config, readConfig } from './config.ts';
import { openDatabase } from './database.ts';
import { describeError } from './failure.ts';
import { createLogger, createPartner } from './partner.ts';

async function main(config: Config): Promise<void> {
  const logger = createLogger(config.LOG_LEVEL);
  const database = openDatabase(config.DATABASE_FILE);
  const partner = createPartner(config, {
    database,
    logger,
    now: Date.now,
    sleep,
    randomBytes,
    random: Math.random,
    newRequestId: randomUUID,
  });
  const app = await createApp(partner);
  let ready = false;
  const health = createHealthServer(() => ready);
  health.listen(config.HEALTH_PORT, config.HEALTH_HOST);
  await once(health, 'listening');
  await app.listen({ host: config.HTTP_HOST, port: config.HTTP_PORT, listenTextResolver: () => 'listening' });
  ready = true;
  stopWithGrace(config, logger, async () => {
    ready = false;
    // Load balancers notice before connections close.
    await sleep(config.SHUTDOWN_DELAY_MS);
    await app.close();
    health.close().closeAllConnections();
    database.close();
  });
}

function stopWithGrace(config: Config, logger: Logger, stop: () => Promise<void>): void {
  const onTimeout = () => logger.error('stop took too long');
  const delay = config.SHUTDOWN_DELAY_MS + 20_000;
  const { close } = closeWithGrace({ delay, logger: false, onTimeout }, async ({ err, signal }) => {
    if (err) logger.error(describeError(err), 'uncaught error');
    logger.info({ reason: signal ?? (err ? 'uncaught error' : 'parent gone') }, 'stopping');
    await stop();
    logger.info('stopped');
  });
  if (config.STOP_WITH_PARENT) process.stdin.resume().once('end', close);
}

function createHealthServer(isReady: () => boolean): Server {
  return createServer((request, response) => {
    const path = request.url ?? '';
    if (path === '/livez') response.writeHead(200).end();
    else if (path === '/readyz' || path === '/healthz') response.writeHead(isReady() ? 200 : 503).end();
    else response.writeHead(404).end();
  });
}

try {
  await main(readConfig(process.env));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'unknown error'}\n`);
  process.exit(1);
}
