// Who started this process: its parent, and npx, npm and pnpm above it. They pass no signal on when they are
// killed, so the stack looks after them itself.
import { readFileSync } from 'node:fs';
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts';

/** npm writes its own title over its command line: `npm exec pnpm start`. */
const runner =
  /^([^\0\s]*\/)?(node\0([^\0\s]*\/)?)?(npm|npx|pnpm|pnpx|yarn|corepack)(-cli)?(\.[cm]?js)?[\0 ]/;
const shell = /^([^\0\s]*\/)?(sh|bash|dash|zsh|ash|ksh)\0-c\0/;

const pollMs = 1_000;

/** Calls `onGone` once, within moments of the first of them being gone. Nothing is kept alive by the watch. */
export function watchStarters(onGone: () => void): void {
  const parent = process.ppid;
  const runners = runnersAbove(parent);
  const timer = setInterval(() => {
    if (process.ppid === parent && runners.every(isAlive)) return;
    clearInterval(timer);
    onGone();
  }, pollMs);
  timer.unref();
}

/**
 * The runners among the ancestors from `pid` on, as far as nothing but runners and their shells stand between.
 * Elsewhere than on Linux none: there the parent alone is looked after.
 */
function runnersAbove(pid: number): readonly ProcessIdentity[] {
  if (process.platform !== 'linux') return [];
  const found: ProcessIdentity[] = [];
  for (let at = pid; at > 1; at = parentOf(at)) {
    const command = commandOf(at);
    const identity = runner.test(command) ? identify(at) : undefined;
    if (identity) found.push(identity);
    else if (!shell.test(command)) break;
  }
  return found;
}

/** Words of the command line, a NUL after each; empty when the process is gone. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return 0;
  }
}
