// Time as this process had it. Where the machine stands still, or gives its processors to others for longer than a moment,
// no server can keep its bounds, and a test that measures them cannot tell. Nothing but the machine may keep the event loop
// of such a test busy.

const tickMs = 20;
/** Of a time between two ticks so much counts as had, in milliseconds. */
const momentMs = 100;
/** From so many milliseconds on, a time between two ticks is one in which calls of others may have missed theirs. */
const standstillMs = 300;

/** The times between two ticks that lasted longer than one, on the clock of `performance.now()`. */
const gaps: { readonly from: number; readonly to: number }[] = [];
let tickedAt = 0;
let ticking: NodeJS.Timeout | undefined;

function tick(): void {
  const now = performance.now();
  if (now - tickedAt > tickMs) gaps.push({ from: tickedAt, to: now });
  tickedAt = now;
}

function begin(): void {
  if (ticking === undefined) tickedAt = performance.now();
  ticking ??= setInterval(tick, tickMs).unref();
  tick();
}

/** The lengths of those that lay, at least in part, between two moments. */
function gapsBetween(from: number, to: number): readonly number[] {
  tick();
  const first = gaps.findLastIndex((gap) => gap.to <= from) + 1;
  return gaps.slice(first).flatMap((gap) => (gap.from < to ? [gap.to - gap.from] : []));
}

function beyond(limit: number, lengths: readonly number[]): number {
  return lengths.reduce((sum, length) => sum + Math.max(0, length - limit), 0);
}

/** Gives the milliseconds that this process has had since; of a standstill a moment counts. */
export function ownStopwatch(): () => number {
  begin();
  const begun = tickedAt;
  return () => {
    const lengths = gapsBetween(begun, Number.POSITIVE_INFINITY);
    return performance.now() - begun - beyond(momentMs, lengths);
  };
}

/** Tells whether the machine has stood still in the last milliseconds: what failed meanwhile says nothing of a server. */
export function standstillWatch(): (withinMs: number) => boolean {
  begin();
  return (withinMs) =>
    gapsBetween(performance.now() - withinMs, Number.POSITIVE_INFINITY).some((gap) => gap >= standstillMs);
}
