// A TCP link to a server at 127.0.0.1 that a test can break in its own way.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** `carry` moves the bytes of each connection. A `target` that changes is asked for each. `port` 0: any. */
export async function openLink(
  target: number | (() => number),
  carry: (client: Socket, upstream: Socket) => void,
  port = 0,
) {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(typeof target === 'number' ? target : target(), '127.0.0.1');
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.setNoDelay(true).on('error', () => {});
    }
    carry(client, upstream);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
