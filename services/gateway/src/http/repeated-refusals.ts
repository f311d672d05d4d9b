// When a refusal for want of room leaves: at once (R14.7), but where its client was refused over the same connection less
// than the shortest Retry-After ago, only after that. Whoever keeps to Retry-After never waits. Whoever asks again at once
// is refused once a second: thousands of them would else leave no time for the work (decision 0027).
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { shortestRetryAfterSeconds } from '@course-exchange/runtime/process/errors';

/** Of all connections together, for what each costs in memory; one more does not wait. */
const maxWaiting = 4_096;
/** In one turn of the event loop: what is in work needs some turns, and never waits for thousands of refusals in each. */
const maxInTurn = 32;

/** Resolves when the refusal may leave. `client`: its address; an ingress has one connection for many. */
export type RefusalTurn = (response: ServerResponse, client: string) => Promise<void>;

const shortestMs = shortestRetryAfterSeconds * 1_000;

export function delayRepeatedRefusals(now: () => number): RefusalTurn {
  const refusedLast = new WeakMap<Socket, { readonly client: string; readonly at: number }>();
  const inTurn = spreadOverTurns();
  let waiting = 0;
  return async (response, client) => {
    const { socket } = response.req;
    const before = refusedLast.get(socket);
    const earlyMs = before?.client === client ? before.at + shortestMs - now() : 0;
    if (earlyMs > 0 && waiting < maxWaiting) {
      waiting += 1;
      // No longer, where the clock was set back.
      await closedOrAfter(response, Math.min(earlyMs, shortestMs));
      waiting -= 1;
    }
    await inTurn();
    refusedLast.set(socket, { client, at: now() });
  };
}

/** First come, first served, some in each turn. */
function spreadOverTurns(): () => Promise<void> {
  const queue = new Set<() => void>();
  const leave = (): void => {
    let left = 0;
    for (const next of queue) {
      queue.delete(next);
      next();
      left += 1;
      if (left === maxInTurn) break;
    }
    if (queue.size > 0) setImmediate(leave);
  };
  return () =>
    new Promise((resolve) => {
      if (queue.size === 0) setImmediate(leave);
      queue.add(resolve);
    });
}

function closedOrAfter(response: ServerResponse, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const leave = (): void => {
      clearTimeout(timer);
      response.off('close', leave);
      resolve();
    };
    const timer = setTimeout(leave, ms);
    response.once('close', leave);
  });
}
