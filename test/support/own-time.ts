// Time as this process had it. If the machine stalls, or gives its processors to others for longer than a moment,
// no server can keep its bounds, and a test that measures them cannot tell. Only the machine may keep the event loop of such a
// test busy.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

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

/** Between two echoes so much is usual, in milliseconds. */
const usualMs = 2 * tickMs;

export type Probe = Awaited<ReturnType<typeof startProbe>>;

/**
 * A process that echoes what it is sent: while no echo comes, the machine is stalled, or this process has no time for answers
 * either, and no server is to blame for the time that passes.
 */
export async function startProbe() {
  const child = spawn(process.execPath, ['--eval', `process.on('message', (sent) => process.send(sent))`], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const stalls: { readonly from: number; readonly to: number }[] = [];
  let echoed = performance.now();
  const gap = (): typeof stalls => {
    const now = performance.now();
    return now - echoed > usualMs ? [{ from: echoed + tickMs, to: now }] : [];
  };
  const ticking = setInterval(() => child.connected && child.send(0), tickMs);
  await once(child, 'message');
  echoed = performance.now();
  child.on('message', () => {
    stalls.push(...gap());
    echoed = performance.now();
  });
  return {
    pid: child.pid ?? -1,
    stalls: () => [...stalls, ...gap()],
    stop: (): void => {
      clearInterval(ticking);
      child.kill('SIGKILL');
    },
  };
}
