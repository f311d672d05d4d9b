// A TCP link whose answers can be made late.
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLink } from '../support/tcp-link.ts';

export type SlowLink = ReturnType<typeof planSlowLink>;

/** `open` it before anybody connects. */
export function planSlowLink() {
  let lateMs = 0;
  const carry = (client: Socket, upstream: Socket): void => {
    // In their order, whatever changes meanwhile.
    let sent = Promise.resolve();
    upstream.on('data', (chunk: Buffer) => {
      const due = performance.now() + lateMs;
      sent = sent.then(async () => {
        const left = due - performance.now();
        if (left > 0) await sleep(left);
        client.write(chunk);
      });
    });
    client.pipe(upstream);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  };
  return {
    open: (target: number, port: number) => openLink(target, carry, port),
    /** From now on each answer comes so many milliseconds later. */
    delay: (ms: number): void => {
      lateMs = ms;
    },
  };
}
