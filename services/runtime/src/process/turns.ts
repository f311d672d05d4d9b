// Permits that bound concurrency: owners in rotation, requests of one owner first in, first out.

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
    /** True with a permit; false after `withinMs` without one. */
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
    /** Call once per permit, which goes to the next in the queue. */
    end: (): void => {
      const [[owner, queue] = ['', undefined]] = queues;
      const [next] = queue ?? [];
      if (queue === undefined || next === undefined) {
        running -= 1;
        return;
      }
      leave(owner, next);
      // The other owners come first.
      if (queues.delete(owner)) queues.set(owner, queue);
      next(true);
    },
  };
}
