// Time as this process had it. Where the machine stands still, or gives its processors to others for longer than a moment,
// no server can keep its bounds, and a test that measures them cannot tell. Only the machine may keep the event loop of such a
// test busy.

const tickMs = 20;
/** Milliseconds of the time between two ticks that count as had. */
const momentMs = 100;
/** Milliseconds between two ticks in which calls of others may have missed their time. */
const standstillMs = 300;

/** Begins to tick; gives what brings the count up to now. */
function ticking(onTick: (lengthMs: number, now: number) => void): () => void {
  let tickedAt = performance.now();
  const tick = () => {
    const now = performance.now();
    onTick(now - tickedAt, now);
    tickedAt = now;
  };
  setInterval(tick, tickMs).unref();
  return tick;
}

/** Gives the milliseconds that this process has had since; of a standstill a moment counts. */
export function ownStopwatch(): () => number {
  let had = 0;
  const tick = ticking((lengthMs) => {
    had += Math.min(lengthMs, momentMs);
  });
  return () => {
    tick();
    return had;
  };
}

/** Tells whether the machine has stood still in the last milliseconds: what failed meanwhile says nothing of a server. */
export function standstillWatch(): (withinMs: number) => boolean {
  let stoodStillAt = Number.NEGATIVE_INFINITY;
  const tick = ticking((lengthMs, now) => {
    if (lengthMs >= standstillMs) stoodStillAt = now;
  });
  return (withinMs) => {
    tick();
    return performance.now() - stoodStillAt <= withinMs;
  };
}
