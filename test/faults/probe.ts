// A process beside the workload that echoes what it is sent: while no echo comes, the machine stands still, or this process
// has no time for answers either, and no server is to blame for the time that passes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Span } from './checker.ts';

const tickMs = 20;
/** Between two echoes so much is usual, in milliseconds. */
const usualMs = 2 * tickMs;

export type Probe = Awaited<ReturnType<typeof startProbe>>;

export async function startProbe() {
  const child = spawn(process.execPath, ['--eval', `process.on('message', (sent) => process.send(sent))`], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const stalls: Span[] = [];
  let echoed = performance.now();
  const gap = (): readonly Span[] => {
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
    stalls: (): readonly Span[] => [...stalls, ...gap()],
    stop: (): void => {
      clearInterval(ticking);
      child.kill('SIGKILL');
    },
  };
}
