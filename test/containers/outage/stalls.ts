// How long this machine kept its processes waiting: what a busy machine adds to an answer is not the product's.
import { setTimeout as sleep } from 'node:timers/promises';

export interface Stalls {
  /** Milliseconds by which timers of this process came late between two moments of `performance.now()`. */
  readonly between: (from: number, to: number) => number;
  readonly stop: () => void;
}

const tickMs = 25;

export function watchStalls(): Stalls {
  const late: { readonly at: number; readonly by: number }[] = [];
  let over = false;
  async function watch(): Promise<void> {
    while (!over) {
      const from = performance.now();
      await sleep(tickMs);
      const at = performance.now();
      late.push({ at, by: at - from - tickMs });
    }
  }
  void watch();
  return {
    between: (from, to) =>
      late.reduce((sum, { at, by }) => (at >= from && at - by <= to ? sum + Math.max(0, by) : sum), 0),
    stop: () => {
      over = true;
    },
  };
}
