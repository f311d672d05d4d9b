// A TCP link to Postgres that lets everybody in and fails with the first query: the server closes, or says nothing more.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface FaultyLink {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** First bytes of what asks something: Query and Parse. */
const asking: readonly (number | undefined)[] = [0x51, 0x50];

export async function openFaultyLink(target: number, fault: 'closes' | 'is silent'): Promise<FaultyLink> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.setNoDelay(true).on('error', () => {});
    }
    let faulty = false;
    client.on('data', (bytes: Buffer) => {
      faulty ||= asking.includes(bytes[0]);
      if (!faulty) upstream.write(bytes);
      else if (fault === 'closes') client.destroy();
    });
    upstream.pipe(client, { end: false });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
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
