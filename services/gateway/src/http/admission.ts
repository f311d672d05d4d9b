// Admission bounds the requests in flight and queued, so that what is started finishes in time (R14.7, decision 0027).
// Each class of work has its own capacity: lists never delay tokens.
import { timeBudget } from '@course-exchange/rules/time-budget';
import { Overloaded } from '@course-exchange/runtime/process/errors';
import { createPermits } from '@course-exchange/runtime/process/permits';
import { gatewayMetrics } from '../metrics.ts';
import { fairCapacity } from './fair-capacity.ts';

/** `other`: pages and user-info. `public`: key set and discovery. */
export type Work = 'token' | 'login' | 'list' | 'other' | 'public';

export type Admission = ReturnType<typeof createAdmission>;

/** `now`: milliseconds since the epoch. */
export function createAdmission(now: () => number) {
  const openCapacity = (work: Work | 'unknown', capacity: number) => {
    const requests = fairCapacity(capacity);
    gatewayMetrics.workAdmitted.observe(() => [[requests.held(), { work }]]);
    gatewayMetrics.workCapacity.observe(() => [[capacity, { work }]]);
    return (network: string): (() => void) => {
      if (!requests.acquire(network)) throw new Overloaded('no_capacity');
      return () => requests.release(network);
    };
  };
  /** `capacity`: requests in flight and queued; `concurrency`: in flight. */
  const open = (work: Work, capacity: number, concurrency: number) => {
    const take = openCapacity(work, capacity);
    const permits = createPermits(concurrency);
    gatewayMetrics.workRunning.observe(() => [[permits.running(), { work }]]);
    return async (network: string, deadline: number): Promise<() => void> => {
      const release = take(network);
      if (await permits.acquire(deadline - timeBudget.admission - now(), network))
        return () => {
          permits.release();
          release();
        };
      release();
      throw new Overloaded('queued_too_long');
    };
  };
  const classes = {
    token: open('token', 640, 64),
    // Logins queue in identity, which knows the rate-limited sources.
    login: open('login', 256, 256),
    list: open('list', 128, 16),
    other: open('other', 256, 64),
    // Answered from memory, as a rule.
    public: open('public', 256, 256),
  };
  return {
    /**
     * Resolves with a `release` to call once. Throws `Overloaded` at capacity, or when too little time is left until
     * `deadline` (milliseconds since the epoch).
     */
    admit: (work: Work, network: string, deadline: number) => classes[work](network, deadline),
    /** For no route or another method, which are answered at once. The same. */
    admitUnknown: openCapacity('unknown', 256),
  };
}
