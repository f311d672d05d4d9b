// Text for people: aligned columns, fields, times, progress.
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { type Color, paint, sanitize, type Terminal } from './terminal.ts';

interface Painted {
  readonly text: string;
  readonly color?: Color;
}

type Time = Date | Timestamp;
export type Value = string | number | Time | Painted | undefined;

export type Columns<Row> = Readonly<Record<string, (row: Row) => Value>>;

/** Numbers are right-aligned. Ends with a line break. */
export function table<Row>(rows: readonly Row[], columns: Columns<Row>, none: string): string {
  if (rows.length === 0) return `${none}\n`;
  const aligned = Object.entries(columns).map(([heading, cellFor]) => {
    const values = rows.map(cellFor);
    const cells = [{ text: heading, color: 'dim' } as const, ...values.map(cellOf)];
    const width = Math.max(...cells.map(({ text }) => text.length));
    const toRight = values.some((value) => typeof value === 'number');
    return cells.map(({ text, color }: Painted) => {
      const padded = toRight ? text.padStart(width) : text.padEnd(width);
      return color === undefined || text === '' ? padded : padded.replace(text, () => paint(color, text));
    });
  });
  const lines = Array.from({ length: rows.length + 1 }, (_, at) => aligned.map((column) => column[at]));
  return `${lines.map((line) => line.join('  ').trimEnd()).join('\n')}\n`;
}

function cellOf(value: Value): Painted {
  if (value === undefined || typeof value === 'string') return { text: sanitize(value ?? '–') };
  if (typeof value === 'number') return { text: String(value) };
  return 'text' in value ? { ...value, text: sanitize(value.text) } : { text: localTime(value) };
}

/** Undefined is left out, empty is a dash. */
export function fields(values: Readonly<Record<string, Value | readonly string[]>>): string {
  const shown = Object.entries(values).filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  const lines = shown.flatMap(([name, value]) => {
    const all = Array.isArray(value) && value.length > 0 ? value : [String(value) === '' ? '–' : value];
    return all.map((one, at) => `${paint('dim', (at === 0 ? name : '').padEnd(width))}  ${cellOf(one).text}`);
  });
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

const format = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'long' });

/** `2026-11-20 13:20:00 UTC`; a dash without a time. */
export function localTime(time: Time | undefined): string {
  return time === undefined ? '–' : format.format(dateOf(time));
}

export function dateOf(time: Time): Date {
  return time instanceof Date ? time : timestampDate(time);
}

const steps: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

export function fromNow(time: Date, now: Date): string {
  const seconds = (time.getTime() - now.getTime()) / 1000;
  const [size, name] = steps.find(([length]) => Math.abs(seconds) >= length) ?? [1, 'second'];
  const count = Math.floor(Math.abs(seconds) / size);
  const span = `${count} ${name}${count === 1 ? '' : 's'}`;
  return seconds >= 0 ? `in ${span}` : `${span} ago`;
}

interface Watched {
  readonly terminal: Terminal;
  readonly now: () => Date;
}

export type Progress = ReturnType<typeof openProgress>;

const intervalMs = 100;

/** `Users  25 % of 10000` on standard error, on a terminal only. */
export function openProgress(label: string, { terminal: { err }, now }: Watched) {
  let drawn = 0;
  return {
    update: (done: number, total: number): void => {
      const time = now().getTime();
      if (!err.isTty || time - drawn < intervalMs) return;
      drawn = time;
      err.write(`\r${label}  ${Math.floor((done / total) * 100)} % of ${total}`);
    },
    clear: (): void => {
      if (drawn > 0) err.write(`\r${' '.repeat(60)}\r`);
    },
  };
}
