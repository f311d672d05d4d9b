// Turns: how many pieces of work run at a time. Owners of work take turns; of one owner's work the first comes first.

export function createTurns(concurrency: number) {
  /** By owner, the next one first. */
  const queues = new Map<string, Set<(isTurn: boolean) => void>>();
  let [running, waiting] = [0, 0];
  const leave = (owner: string, one: (isTurn: boolean) => void): void => {
    const queue = queues.get(owner);
    if (!queue?.delete(one)) return;
    waiting -= 1;
    if (queue.size === 0) queues.delete(owner);
  };
  return {
    running: () => running,
    waiting: () => waiting,
    /** True when it is the caller's turn; false when none came within so many milliseconds. */
    take: async (withinMs: number, owner = ''): Promise<boolean> => {
      if (withinMs <= 0) return false;
      if (running < concurrency) {
        running += 1;
        return true;
      }
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => {
        leave(owner, resolve);
        resolve(false);
      }, withinMs);
      queues.set(owner, (queues.get(owner) ?? new Set()).add(resolve));
      waiting += 1;
      return promise.finally(() => clearTimeout(timer));
    },
    /** To be called once for each turn: it is handed over, so that nobody steps in between. */
    end: (): void => {
      const [[owner, queue] = ['', undefined]] = queues;
      const [next] = queue ?? [];
      if (queue === undefined || next === undefined) {
        running -= 1;
        return;
      }
      leave(owner, next);
      // The others come before this owner's next.
      if (queues.delete(owner)) queues.set(owner, queue);
      next(true);
    },
  };
}
