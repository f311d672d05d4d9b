// Permits that bound concurrency: owners in rotation, requests of one owner first in, first out.

export function createPermits(concurrency: number) {
  /** By owner, the next one first. */
  const queues = new Map<string, Set<(granted: boolean) => void>>();
  let running = 0;
  const dequeue = (owner: string, one: (granted: boolean) => void): void => {
    const queue = queues.get(owner);
    queue?.delete(one);
    if (queue?.size === 0) queues.delete(owner);
  };
  return {
    running: () => running,
    queued: () => queues.values().reduce((sum, { size }) => sum + size, 0),
    /** True with a permit; false after `withinMs` without one. */
    acquire: async (withinMs: number, owner = ''): Promise<boolean> => {
      if (withinMs <= 0) return false;
      if (running < concurrency) {
        running += 1;
        return true;
      }
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => {
        dequeue(owner, resolve);
        resolve(false);
      }, withinMs);
      queues.set(owner, (queues.get(owner) ?? new Set()).add(resolve));
      return promise.finally(() => clearTimeout(timer));
    },
    /** Call once per permit, which goes to the next in the queue. */
    release: (): void => {
      const [[owner, queue] = ['', undefined]] = queues;
      const [next] = queue ?? [];
      if (queue === undefined || next === undefined) {
        running -= 1;
        return;
      }
      dequeue(owner, next);
      // The other owners come first.
      if (queues.delete(owner)) queues.set(owner, queue);
      next(true);
    },
  };
}
