// Ways between processes of one machine that can be slow or cut: what was asked is still done, but no answer comes, then nobody
// is there.
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePorts } from '@course-exchange/local-stack/free-ports';
import { openLink } from '../../support/tcp-link.ts';

export type Link = Awaited<ReturnType<typeof joinLink>>;

/** At a port of its own; it leads nowhere until it is told. */
export async function joinLink() {
  const { link: port } = await choosePorts(['link']);
  let [target, isMute, delayMs] = [0, false, 0];
  const carry = (client: Socket, upstream: Socket): void => {
    client.pipe(upstream);
    let written = Promise.resolve();
    upstream.on('data', (chunk: Buffer) => {
      const due = delayMs > 0 && sleep(delayMs);
      written = written.then(async () => void ((await due) || isMute || client.write(chunk)));
    });
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
    /** Each answer comes so many milliseconds later. */
    delay: (ms: number): void => {
      delayMs = ms;
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
