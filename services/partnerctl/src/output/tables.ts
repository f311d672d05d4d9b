// Aligned columns for people.
import { harmless, type Ink, type Paint } from '../frame/terminal.ts';

interface Cell {
  readonly words: string;
  readonly ink?: Ink;
}

export interface Column<Row> {
  readonly heading: string;
  readonly show: (row: Row) => string | Cell;
  readonly right?: boolean;
}

const gap = '  ';
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function widthOf(words: string): number {
  return [...graphemes.segment(words)].length;
}

/** A heading and a line per row; `nothing` when there is none. Ends with a line break. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  paint: Paint,
  nothing: string,
): string {
  if (rows.length === 0) return `${nothing}\n`;
  const heading: readonly Cell[] = columns.map((column) => ({ words: column.heading, ink: 'dim' }));
  const body = rows.map((row) => columns.map((column) => cellOf(column.show(row))));
  const lines = [heading, ...body];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => widthOf(line[at]?.words ?? ''))));
  const written = lines.map((line) =>
    line
      .map((cell, at) => aligned(cell, widths[at] ?? 0, columns[at]?.right === true, paint))
      .join(gap)
      .trimEnd(),
  );
  return `${written.join('\n')}\n`;
}

function cellOf(shown: string | Cell): Cell {
  const cell = typeof shown === 'string' ? { words: shown } : shown;
  return { ...cell, words: harmless(cell.words) };
}

function aligned({ words, ink }: Cell, width: number, right: boolean, paint: Paint): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(words)));
  const painted = ink === undefined ? words : paint(ink, words);
  return right ? space + painted : painted + space;
}

/** Names on the left, values beside them; a value of several lines stays in its column. Undefined is left out. */
export function fields(
  entries: readonly (readonly [name: string, value: string | readonly string[] | undefined])[],
  paint: Paint,
): string {
  const shown = entries.flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, lines: typeof value === 'string' ? [value] : value }],
  );
  const width = Math.max(0, ...shown.map(({ name }) => name.length));
  const written = shown.flatMap(({ name, lines }) =>
    (lines.length === 0 ? ['–'] : lines).map(
      (line, at) => paint('dim', (at === 0 ? name : '').padEnd(width)) + gap + harmless(line),
    ),
  );
  return `${written.map((line) => line.trimEnd()).join('\n')}\n`;
}
