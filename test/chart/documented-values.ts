// Reads what values.yaml says of itself: a `# --` comment above a value documents it and all below it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chart, isMap } from './render.ts';

export interface DocumentedValue {
  readonly path: readonly string[];
  readonly says: string;
  readonly preset: unknown;
}

export interface DocumentedValues {
  readonly values: readonly DocumentedValue[];
  /** Comments without `--` above maps, by the map's path. */
  readonly remarks: ReadonlyMap<string, string>;
  /** Paths of leaves that no comment documents. */
  readonly silent: readonly string[];
}

export const valuesText = readFileSync(join(chart, 'values.yaml'), 'utf8');

export function documentedValues(text: string): DocumentedValues {
  const presets: unknown = parse(text);
  const values: DocumentedValue[] = [];
  const remarks = new Map<string, string>();
  const silent: string[] = [];
  const open: { readonly indent: number; readonly key: string; readonly documented: boolean }[] = [];
  for (const { indent, key, comment } of keysOf(text)) {
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    if (open.at(-1)?.documented) continue;
    const path = [...open.map((parent) => parent.key), key];
    const preset = path.reduce((below: unknown, name) => (isMap(below) ? below[name] : undefined), presets);
    const says = comment.match(/^-- ([\s\S]*)/)?.[1];
    open.push({ indent, key, documented: says !== undefined });
    if (says !== undefined) values.push({ path, says, preset });
    else if (!isMap(preset) || Object.keys(preset).length === 0) silent.push(path.join('.'));
    else if (comment !== '') remarks.set(path.join('.'), comment);
  }
  return { values, remarks, silent };
}

/** Every line with a key of a block, with the comment that stands right above it. */
function keysOf(text: string): readonly { indent: number; key: string; comment: string }[] {
  let comment: string[] = [];
  return text.split('\n').flatMap((line) => {
    const said = line.match(/^\s*# ?(.*)$/);
    if (said) {
      comment.push(said[1] ?? '');
      return [];
    }
    const found = line.match(/^(\s*)([\w.-]+):(\s|$)/);
    const above = comment.join(' ');
    comment = [];
    return found ? [{ indent: found[1]?.length ?? 0, key: found[2] ?? '', comment: above }] : [];
  });
}
