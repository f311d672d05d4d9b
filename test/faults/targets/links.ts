// Ways between processes of one machine that can be cut: what was asked is still done, but no answer comes, then nobody is there.
import type { Socket } from 'node:net';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { openLink } from '../../support/tcp-link.ts';

export type Link = Awaited<ReturnType<typeof joinLink>>;

/** At a port of its own; it leads nowhere until it is told. */
export async function joinLink() {
  const { link: port } = await choosePorts(['link']);
  let [target, isMute] = [0, false];
  const carry = (client: Socket, upstream: Socket): void => {
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => isMute || client.write(chunk));
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  };
  const open = () => openLink(() => target, carry, port);
  let link = await open();
  return {
    port,
    /** From now on it leads to this port; gives its own. */
    leadTo: (listener: number): number => {
      target = listener;
      return port;
    },
    /** No answer passes any more. */
    mute: (): void => {
      isMute = true;
    },
    /** Every connection is lost, and none can be made. */
    cut: () => link.close(),
    /** The same, and they can be made again. */
    join: async (): Promise<void> => {
      isMute = false;
      link = await open();
    },
  };
}
