// Time as this process had it. Where the machine stands still, or gives its processors to others for longer than a moment,
// no server can keep its bounds, and a test that measures them cannot tell: here such a time counts as that moment.

const tickMs = 20;
/** Of a time between two ticks so much counts, in milliseconds. */
const momentMs = 100;
/** From so many milliseconds on, a time between two ticks is one in which calls of others may have missed theirs. */
const standstillMs = 300;

let [own, tickedAt, stoodAt] = [0, performance.now(), Number.NEGATIVE_INFINITY];
let ticking: NodeJS.Timeout | undefined;

function tick(): void {
  const now = performance.now();
  own += Math.min(now - tickedAt, momentMs);
  if (now - tickedAt >= standstillMs) stoodAt = now;
  tickedAt = now;
}

function begin(): void {
  if (ticking === undefined) tickedAt = performance.now();
  ticking ??= setInterval(tick, tickMs).unref();
  tick();
}

/** Gives the milliseconds that this process has had since. Between both nothing may keep its event loop busy. */
export function ownStopwatch(): () => number {
  begin();
  const begun = own;
  return () => {
    tick();
    return own - begun;
  };
}

/** Tells whether the machine has stood still in the last milliseconds: what failed meanwhile says nothing of a server. */
export function standstillWatch(): (withinMs: number) => boolean {
  begin();
  return (withinMs) => {
    tick();
    return performance.now() - stoodAt < withinMs;
  };
}
