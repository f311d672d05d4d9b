// Admission bounds the requests in flight and queued, so that what is begun ends in time (R14.7, decision 0027). Each
// class of work has its own capacity, so that lists never delay tokens, and networks take turns.
import { Overloaded } from '@course-exchange/runtime/process/errors';
import { createTurns } from '@course-exchange/runtime/process/turns';
import { gatewayMetrics } from '../metrics.ts';
import { fairCapacity } from './fair-capacity.ts';

/** `other` is all else that identity answers: pages and user-info. */
export type Work = 'token' | 'login' | 'list' | 'other';

interface Limits {
  /** Requests in flight and queued. */
  readonly capacity: number;
  /** Requests in flight: enough to keep the services busy. */
  readonly concurrency: number;
}

/** Logins queue in identity, which knows the rate-limited ones. */
const limits: Readonly<Record<Work, Limits>> = {
  token: { capacity: 640, concurrency: 64 },
  login: { capacity: 256, concurrency: 256 },
  list: { capacity: 128, concurrency: 16 },
  other: { capacity: 256, concurrency: 64 },
};

/**
 * Milliseconds that a request must have left when its turn comes. A service counts its deadline from when it hears of a
 * call, and what it has consumed must still be answered (decision 0025).
 */
const leastMs = 900;

export type Admission = ReturnType<typeof createAdmission>;

/** `now`: milliseconds since the epoch. */
export function createAdmission(now: () => number) {
  const open = (work: Work) => {
    const { capacity, concurrency } = limits[work];
    const requests = fairCapacity(capacity);
    const turns = createTurns(concurrency);
    gatewayMetrics.workAdmitted.observe(() => [[requests.held(), { work }]]);
    gatewayMetrics.workRunning.observe(() => [[turns.running(), { work }]]);
    gatewayMetrics.workRoom.observe(() => [[capacity, { work }]]);
    return async (network: string, deadline: number): Promise<() => void> => {
      if (!requests.acquire(network)) throw new Overloaded('no room');
      if (await turns.take(deadline - leastMs - now(), network))
        return () => {
          turns.end();
          requests.release(network);
        };
      requests.release(network);
      throw new Overloaded('its turn came too late');
    };
  };
  const classes = { token: open('token'), login: open('login'), list: open('list'), other: open('other') };
  /**
   * Resolves when it is the request's turn, with what its end must call, once. Throws `Overloaded` where its class or
   * its network has no capacity, and where too little time is left until `deadline`, milliseconds since the epoch.
   */
  return (work: Work, network: string, deadline: number) => classes[work](network, deadline);
}
