// TCP links to servers at 127.0.0.1: what a test breaks in its own way, and one that can be slow, silent or cut.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePorts } from '@course-exchange/local-stack/free-ports';

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

export type Link = Awaited<ReturnType<typeof joinLink>>;

/** At a port that it keeps; without a target it leads nowhere until it gets one. */
export async function joinLink(to = 0) {
  const { link: port } = await choosePorts(['link']);
  let [target, isMute, delayMs] = [to, false, 0];
  const upstreams = new Set<Socket>();
  const carry = (client: Socket, upstream: Socket): void => {
    upstreams.add(upstream);
    if (isMute) upstream.pause();
    client.pipe(upstream);
    let written = Promise.resolve();
    upstream.on('data', (chunk: Buffer) => {
      const due = delayMs > 0 && sleep(delayMs);
      written = written.then(async () => void ((await due) || client.write(chunk)));
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  };
  const open = () => openLink(() => target, carry, port);
  let link = await open();
  const unmute = (): void => {
    isMute = false;
    for (const upstream of upstreams) upstream.resume();
  };
  return {
    port,
    /** New connections lead to this port, and are not silent; gives its own. */
    leadTo: (listener: number): number => {
      [target, isMute] = [listener, false];
      return port;
    },
    delay: (ms: number): void => {
      delayMs = ms;
    },
    /** No answer passes, nor the first one of a new connection. */
    mute: (): void => {
      isMute = true;
      for (const upstream of upstreams) upstream.pause();
    },
    unmute,
    /** Every connection is lost, and none can be made. */
    cut: () => link.close(),
    join: async (): Promise<void> => {
      unmute();
      link = await open();
    },
  };
}
