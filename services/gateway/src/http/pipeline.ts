// Pipelined requests of a connection: two run, up to 32 wait, one more ends it (R14.11).
import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { gatewayMetrics } from '../metrics.ts';
import { fairCapacity } from './fair-capacity.ts';

const [mostRunning, mostWaiting] = [2, 32];
/** Requests that wait on all connections, some 3 KB each. */
const waitingCapacity = 4_096;

/** `begin` runs a request. */
export function createPipelines(begin: RequestListener) {
  const waitingOnAll = fairCapacity(waitingCapacity);
  const run = (response: ServerResponse): void => begin(response.req, response);

  /** Of one connection, whose peer is of `network`. */
  return (socket: Socket, network: string) => {
    const waiting: ServerResponse[] = [];
    let running = 0;
    const drop = (): void => waitingOnAll.release(network, waiting.splice(0).length);
    return {
      /** Begins it now or later, or ends the connection. */
      add: (response: ServerResponse): void => {
        if (socket.destroyed) return;
        if (running < mostRunning) {
          running += 1;
          run(response);
        } else if (waiting.length < mostWaiting && waitingOnAll.acquire(network)) waiting.push(response);
        else {
          gatewayMetrics.workRefused.add({ work: 'pipelined', reason: 'no_capacity' });
          drop();
          socket.destroy();
        }
      },
      /** After the response to one that ran. */
      ended: (): void => {
        const next = waiting.shift();
        if (next === undefined) {
          running -= 1;
          return;
        }
        waitingOnAll.release(network);
        run(next);
      },
      /** When the connection is gone. */
      drop,
    };
  };
}
