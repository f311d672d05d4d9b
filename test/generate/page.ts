// Generated parts of a page: what stands between `<!-- generated: NAME -->` and `<!-- end -->`. Code knows the rows of a
// table; their last cell may be prose, which the page keeps.
import { tableRows } from '../docs/documents.ts';

/** Makes a part, given what is there now. */
export type Part = (before: string) => string;

/** Marks prose that is still to be written; `check` fails on it. */
export const unwritten = '(say what it is)';

/** `text` with each of its parts regenerated. Throws if the page and `parts` do not name the same. */
export function withParts(text: string, parts: Readonly<Record<string, Part>>): string {
  const found: string[] = [];
  const made = text.replaceAll(
    /(<!-- generated: (.+) -->\n)([\s\S]*?)(<!-- end -->)/g,
    (_, begin: string, name: string, before: string, end: string) => {
      found.push(name);
      const part = parts[name];
      if (!part) throw new Error(`no generator writes "${name}"`);
      return `${begin}\n${part(before).trim()}\n\n${end}`;
    },
  );
  const missing = Object.keys(parts).filter((name) => !found.includes(name));
  if (missing.length > 0) throw new Error(`the page has no part "${missing.join('", "')}"`);
  return made;
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const written = rows.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
  return [`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`, ...written].join('\n');
}

/**
 * A table whose last columns are prose: `rows` lack them, and they are taken from the row of `before` with the same
 * first `keys` cells. Rows come in the order of the page, new ones last.
 */
export function tableWithProse(
  before: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  keys = 1,
): string {
  const keyOf = (row: readonly string[]) => row.slice(0, keys).join(' ');
  const kept = tableRows(before);
  const order = new Map(kept.map((row, index) => [keyOf(row), index]));
  const complete = rows.map((row) => {
    const at = order.get(keyOf(row)) ?? kept.length;
    const prose = heads.slice(row.length).map((_, index) => kept[at]?.[row.length + index] ?? unwritten);
    return { at, cells: [...row, ...prose] };
  });
  const inOrder = complete.toSorted((one, other) => one.at - other.at).map(({ cells }) => cells);
  return table(heads, inOrder);
}

export function code(text: string): string {
  return `\`${text}\``;
}
