// A TCP link to a server that can lose one answer: the command arrives and is executed, the answer never comes, and
// the connection ends.
import { connect, createServer, type Socket } from 'node:net';

export interface LossyLink {
  /** Loses the answer to the next command whose text holds `word`. */
  readonly loseAnswerTo: (word: string) => void;
  readonly close: () => Promise<void>;
}

export async function openLossyLink(port: number, target: number): Promise<LossyLink> {
  let losing: string | undefined;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.setNoDelay(true).on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    let lost = false;
    client.on('data', (bytes) => {
      if (losing !== undefined && bytes.includes(losing)) {
        lost = true;
        losing = undefined;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (lost) client.destroy();
      else client.write(bytes);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    loseAnswerTo: (word) => {
      losing = word;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
