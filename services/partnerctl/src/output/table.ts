// Text for people: aligned columns, fields, times, progress.
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { CommandContext } from '../cli/command.ts';
import { type Color, paint, sanitize } from '../cli/terminal.ts';

interface Painted {
  readonly text: string;
  readonly color?: Color;
}

type Time = Date | Timestamp;
/** A time is shown in the local zone, undefined as a dash. */
export type Value = string | number | Time | Painted | undefined;

/** A cell for a row, by the heading of its column. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => Value>>;

const gap = '  ';
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function widthOf(text: string): number {
  return [...graphemes.segment(text)].length;
}

/** A heading and a line per row, numbers to the right; `none` when there is none. Ends with a line break. */
export function table<Row>(rows: readonly Row[], columns: Columns<Row>, none: string): string {
  if (rows.length === 0) return `${none}\n`;
  const aligned = Object.entries(columns).map(([heading, cellFor]) => {
    const values = rows.map(cellFor);
    const cells = [{ text: heading, color: 'dim' } as const, ...values.map(cellOf)];
    const width = Math.max(...cells.map(({ text }) => widthOf(text)));
    const toRight = values.some((value) => typeof value === 'number');
    return cells.map((cell) => alignedText(cell, width, toRight));
  });
  const lines = Array.from({ length: rows.length + 1 }, (_, at) => aligned.map((column) => column[at]));
  return `${lines.map((line) => line.join(gap).trimEnd()).join('\n')}\n`;
}

function cellOf(value: Value): Painted {
  if (value === undefined || typeof value === 'string') return { text: sanitize(value ?? '–') };
  if (typeof value === 'number') return { text: String(value) };
  return 'text' in value ? { ...value, text: sanitize(value.text) } : { text: localTime(value) };
}

function alignedText({ text, color }: Painted, width: number, toRight: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  const painted = color === undefined || text === '' ? text : paint(color, text);
  return toRight ? space + painted : painted + space;
}

/** Names on the left, values beside them, each of several on a line. Undefined is left out, nothing is a dash. */
export function fields(values: Readonly<Record<string, Value | readonly string[]>>): string {
  const shown = Object.entries(values).filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  const lines = shown.flatMap(([name, value]) => {
    const all = Array.isArray(value) && value.length > 0 ? value : [String(value) === '' ? '–' : value];
    return all.map((one, at) => paint('dim', (at === 0 ? name : '').padEnd(width)) + gap + cellOf(one).text);
  });
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

const format = new Intl.DateTimeFormat('sv-SE', {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

/** `2026-11-20 13:20:00 UTC`; a dash where there is no time. */
export function localTime(time: Time | undefined): string {
  return time === undefined ? '–' : format.format(dateOf(time));
}

export function dateOf(time: Time): Date;
export function dateOf(time: Time | undefined): Date | undefined;
export function dateOf(time: Time | undefined): Date | undefined {
  return time === undefined || time instanceof Date ? time : timestampDate(time);
}

const steps: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

/** `3 days`, `1 hour`: rounded down to the largest unit that fits. */
export function span(seconds: number): string {
  const [size, name] = steps.find(([length]) => seconds >= length) ?? [1, 'second'];
  const count = Math.floor(Math.max(0, seconds) / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** `in 3 days`, `2 hours ago`. */
export function fromNow(time: Date, now: Date): string {
  const seconds = (time.getTime() - now.getTime()) / 1000;
  return seconds >= 0 ? `in ${span(seconds)}` : `${span(-seconds)} ago`;
}

export type Progress = ReturnType<typeof openProgress>;

const barWidth = 28;
/** Drawing more often is not seen and costs time. */
const intervalMs = 100;

/** A bar on standard error while a person watches; silence otherwise. */
export function openProgress(label: string, { terminal: { err }, now }: CommandContext) {
  const started = now().getTime();
  let drawn = 0;
  return {
    /** `done` of `total`, in the unit that the label names. */
    update: (done: number, total: number): void => {
      const time = now().getTime();
      if (!err.isTty || (time - drawn < intervalMs && done < total)) return;
      drawn = time;
      err.write(`\r\u001b[K${bar(label, done, total, (time - started) / 1000)}`);
    },
    clear: (): void => {
      if (err.isTty) err.write('\r\u001b[K');
    },
  };
}

/** `Import [#######     ]  25 %  5,000/s  15 seconds left` */
export function bar(label: string, done: number, total: number, seconds: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const filled = '#'.repeat(Math.round(share * barWidth)).padEnd(barWidth);
  const rate = seconds > 0 ? done / seconds : 0;
  const left = rate > 0 && share < 1 ? `  ${span((total - done) / rate)} left` : '';
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${label} [${filled}] ${percent} %  ${Math.round(rate).toLocaleString('en')}/s${left}`;
}
