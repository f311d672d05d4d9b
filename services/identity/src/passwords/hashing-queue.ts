// Bounds password hashing: so many at once, so many waiting, the rest is refused at once. Hashing is the one
// piece of work here that a stranger can make expensive (R14).
import { unavailable } from '@course-exchange/runtime/failure';

export interface HashingLimits {
  /** Hashes computed at the same time. */
  readonly concurrency: number;
  /** Hashes that may wait for their turn. */
  readonly waiting: number;
}

/** Runs `work` when it is its turn. */
export type HashingQueue = <T>(work: () => Promise<T>) => Promise<T>;

/** First come, first served. Over the limits it throws `temporarily_unavailable` and runs nothing. */
export function createHashingQueue({ concurrency, waiting }: HashingLimits): HashingQueue {
  const turns: (() => void)[] = [];
  let running = 0;

  const takeTurn = (): Promise<void> => {
    if (running < concurrency) {
      running += 1;
      return Promise.resolve();
    }
    if (turns.length >= waiting) throw unavailable('the password queue');
    return new Promise((resolve) => turns.push(resolve));
  };
  // A turn is handed over, not given back and taken anew: nobody can step in between.
  const endTurn = (): void => {
    const next = turns.shift();
    if (next) next();
    else running -= 1;
  };

  return async (work) => {
    await takeTurn();
    try {
      return await work();
    } finally {
      endTurn();
    }
  };
}
