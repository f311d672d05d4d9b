// Hears that the stack shall end: Ctrl-C, a closed terminal, a signal, or the end of the launchers: the parent, and npx,
// npm and pnpm above it, which pass no signal on when they are killed.
import { readFileSync } from 'node:fs';
import { statOf } from './shutdown.ts';

/** Set for the supervisor in the background: it outlives its parent and shows no passwords. */
export const backgroundMark = 'COURSE_EXCHANGE_IN_BACKGROUND';
export const isInBackground = process.env[backgroundMark] === 'true';

export const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** One press of Ctrl-C may arrive several times: npx and pnpm pass it on. */
const samePressMs = 1_000;

/** `hurry` is called when the person asks again while the stop is under way. */
export function listenForStop(request: (reason: string) => void, hurry: () => void): void {
  let firstAt = Infinity;
  for (const signal of stopSignals) {
    process.on(signal, () => {
      firstAt = Math.min(firstAt, performance.now());
      if (performance.now() - firstAt > samePressMs) hurry();
      request(signal);
    });
  }
  const began = launchers();
  const watch = () => launchers() === began || request('the program that started it is gone');
  if (!isInBackground) setInterval(watch, 1_000).unref();
  if (process.env.STOP_WITH_PARENT === 'true')
    process.stdin.resume().once('end', () => request('parent gone'));
}

/** npm writes its own title over its command line: `npm exec pnpm start`. */
const runner =
  /^([^\0\s]*\/)?(node\0([^\0\s]*\/)?)?(npm|npx|pnpm|pnpx|yarn|corepack)(-cli)?(\.[cm]?js)?[\0 ]/;
const shell = /^([^\0\s]*\/)?(sh|bash|dash|zsh|ash|ksh)\0-c\0/;

/** The parent, and the runners above it: the child of a dead process gets another parent. */
function launchers(): string {
  const found = [process.ppid];
  for (let pid = process.ppid, command = commandOf(pid); command !== ''; command = commandOf(pid)) {
    if (runner.test(command)) found.push(pid);
    else if (!shell.test(command)) break;
    pid = Number(statOf(pid)?.[1]);
  }
  return found.join();
}

/** Empty elsewhere than on Linux: the parent alone is watched there. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
