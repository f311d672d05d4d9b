// A port that is taken is named with its setting, for every listener.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { serveRpc } from '../grpc/server.ts';
import { serveHealth } from './health.ts';
import { listenOrFail } from './listen.ts';
import { createLogger } from './logger.ts';

const host = '127.0.0.1';
const other = createServer();
await once(other.listen(0, host), 'listening');
const { port } = other.address() as AddressInfo;
afterAll(() => other.close());

const taken = (setting: string) => ({
  name: 'ConfigurationError',
  mistakes: [`${setting} ${port} is taken: expected a free port`],
});

test('the port of the probes', async () => {
  await expect(serveHealth({ host, port, checks: {} })).rejects.toMatchObject(taken('HEALTH_PORT'));
});

test('a gRPC port, by the name of its setting', async () => {
  const logger = createLogger('test', 'error');
  const options = { services: [], errorStatuses: {}, logger, address: `${host}:${port}` };
  await expect(serveRpc(options)).rejects.toMatchObject(taken('RPC_PORT'));
  await expect(serveRpc({ ...options, portSetting: 'FEED_PORT' })).rejects.toMatchObject(taken('FEED_PORT'));
});

test('another error stays what it is', async () => {
  const error = new Error('no such address');
  await expect(listenOrFail('HTTP_PORT', 1, () => Promise.reject(error))).rejects.toBe(error);
});
