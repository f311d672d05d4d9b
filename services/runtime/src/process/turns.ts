// Turns: how many pieces of work run at a time, first come, first served.

export function createTurns(concurrency: number) {
  const waiting = new Set<(isTurn: boolean) => void>();
  let running = 0;
  return {
    running: () => running,
    waiting: () => waiting.size,
    /** True when it is the caller's turn; false when none came within so many milliseconds. */
    take: async (withinMs: number): Promise<boolean> => {
      if (withinMs <= 0) return false;
      if (running < concurrency) {
        running += 1;
        return true;
      }
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => {
        waiting.delete(resolve);
        resolve(false);
      }, withinMs);
      waiting.add(resolve);
      return promise.finally(() => clearTimeout(timer));
    },
    /** To be called once for each turn: it is handed over, so that nobody steps in between. */
    end: (): void => {
      const [next] = waiting;
      if (next === undefined) running -= 1;
      else {
        waiting.delete(next);
        next(true);
      }
    },
  };
}
