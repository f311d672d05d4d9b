// Admission bounds the requests in flight and queued, so that what is started finishes in time (R14.7, decision 0027).
// Each class of work has its own capacity: lists never delay tokens.
import { timeBudget } from '@course-exchange/rules/time-budget';
import { Overloaded } from '@course-exchange/runtime/process/errors';
import { createPermits } from '@course-exchange/runtime/process/permits';
import { gatewayMetrics } from '../metrics.ts';
import { fairCapacity } from './fair-capacity.ts';

/** `other`: pages and user-info. */
export type Work = 'token' | 'login' | 'list' | 'other';

export type Admission = ReturnType<typeof createAdmission>;

/** `now`: milliseconds since the epoch. */
export function createAdmission(now: () => number) {
  /** `capacity`: requests in flight and queued; `concurrency`: in flight. */
  const open = (work: Work, capacity: number, concurrency: number) => {
    const requests = fairCapacity(capacity);
    const permits = createPermits(concurrency);
    gatewayMetrics.workAdmitted.observe(() => [[requests.held(), { work }]]);
    gatewayMetrics.workRunning.observe(() => [[permits.running(), { work }]]);
    gatewayMetrics.workCapacity.observe(() => [[capacity, { work }]]);
    return async (network: string, deadline: number): Promise<() => void> => {
      if (!requests.acquire(network)) throw new Overloaded('no capacity');
      if (await permits.acquire(deadline - timeBudget.admission - now(), network))
        return () => {
          permits.release();
          requests.release(network);
        };
      requests.release(network);
      throw new Overloaded('queued too long');
    };
  };
  const classes = {
    token: open('token', 640, 64),
    // Logins queue in identity, which knows the rate-limited sources.
    login: open('login', 256, 256),
    list: open('list', 128, 16),
    other: open('other', 256, 64),
  };
  /**
   * Resolves with a `release` to call once. Throws `Overloaded` at capacity, or when too little time is left until
   * `deadline` (milliseconds since the epoch).
   */
  return (work: Work, network: string, deadline: number) => classes[work](network, deadline);
}
