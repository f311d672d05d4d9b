// A bar on standard error while a person watches; silence otherwise.

import type { Terminal } from '../frame/terminal.ts';
import { span } from './times.ts';

export interface Progress {
  /** `done` of `total`, in the unit that the label names. */
  readonly at: (done: number, total: number) => void;
  /** Removes the bar. */
  readonly end: () => void;
}

const width = 28;
/** Redrawing more often is not seen and costs time. */
const everyMs = 100;

export function progress(label: string, terminal: Terminal, now: () => Date): Progress {
  if (!terminal.watchedErr) return { at: () => {}, end: () => {} };
  const began = now().getTime();
  let drawn = 0;
  return {
    at: (done, total) => {
      const time = now().getTime();
      if (time - drawn < everyMs && done < total) return;
      drawn = time;
      terminal.err(`\r\u001b[K${bar(label, done, total, (time - began) / 1000)}`);
    },
    end: () => terminal.err('\r\u001b[K'),
  };
}

/** `Import [#######     ]  25 %  5,000/s  15 seconds left` */
export function bar(label: string, done: number, total: number, seconds: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const filled = '#'.repeat(Math.round(share * width)).padEnd(width);
  const rate = seconds > 0 ? done / seconds : 0;
  const left = rate > 0 && share < 1 ? `  ${span((total - done) / rate)} left` : '';
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${label} [${filled}] ${percent} %  ${Math.round(rate).toLocaleString('en')}/s${left}`;
}
