// Time as this process had it. Where the machine stands still, or gives its processors to others for longer than a moment,
// no server can keep its bounds, and a test that measures them cannot tell. Only the machine may keep the event loop of such a
// test busy.

const tickMs = 20;
/** Milliseconds of the time between two ticks that count as had. */
const momentMs = 100;

/** Gives the milliseconds that this process has had since; of a standstill a moment counts. */
export function ownStopwatch(): () => number {
  let [had, tickedAt] = [0, performance.now()];
  const tick = () => {
    const now = performance.now();
    had += Math.min(now - tickedAt, momentMs);
    tickedAt = now;
    return had;
  };
  setInterval(tick, tickMs).unref();
  return tick;
}
