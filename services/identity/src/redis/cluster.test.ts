import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readSettings } from '@course-exchange/runtime/process/settings';
import { Cluster } from 'ioredis';
import { expect, onTestFinished, test, vi } from 'vitest';
import { connectCluster } from './cluster.ts';
import { redisSettings, redisTarget } from './settings.ts';

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;

/** The only node of a Cluster, which shows its slots once, and from then on when it may. */
async function startNode() {
  let shown = 0;
  const { promise: mayShow, resolve: show } = Promise.withResolvers<void>();
  const answer = (command: string, port: number): string => {
    if (command.includes('slots'))
      return `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n${bulk('127.0.0.1')}:${port}\r\n`;
    return command.includes('info') ? bulk('cluster_state:ok') : '+OK\r\n';
  };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', async (data) => {
      const { port } = server.address() as AddressInfo;
      for (const command of data
        .toString()
        .toLowerCase()
        .split(/(?=\*\d+\r\n)/)) {
        if (command.includes('slots')) {
          shown += 1;
          if (shown > 1) await mayShow;
        }
        socket.write(answer(command, port));
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, shown: () => shown, show };
}

test('a Cluster that is closed while its map is read is not read again', async () => {
  const node = await startNode();
  const reads = vi.spyOn(Cluster.prototype, 'refreshSlotsCache');
  onTestFinished(() => reads.mockRestore());
  const config = readSettings(redisSettings, {
    REDIS_URL: `redis://127.0.0.1:${node.port}`,
    REDIS_CLUSTER: 'true',
  });
  const route = connectCluster(redisTarget(config, {}), { connectionName: 'test', commandTimeoutMs: 1_000 });
  route.watch({ failed: () => {}, ready: () => {} });
  await expect.poll(node.shown).toBeGreaterThan(1);
  route.close();
  node.show();
  const before = reads.mock.calls.length;
  await sleep(2_000);
  expect(reads.mock.calls.length).toBe(before);
});
