// The chart's README: what stands between its two marks is made from values.yaml.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DocumentedValue, documentedValues, valuesText } from './documented-values.ts';
import { chart } from './render.ts';

export const readmePath = join(chart, 'README.md');

const [begin, end] = ['<!-- values.yaml: begin -->', '<!-- values.yaml: end -->'];

/** The README as it should be. */
export function readme(): string {
  const text = readFileSync(readmePath, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${readmePath} lacks the line ${begin} or ${end}`);
  return `${text.slice(0, from)}${begin}\n${tables()}\n${text.slice(to)}`;
}

function tables(): string {
  const { values, remarks } = documentedValues(valuesText);
  const alone = values.filter(({ path }) => path.length === 1);
  const sections = [
    ...new Set(values.filter(({ path }) => path.length > 1).map(({ path }) => path[0] ?? '')),
  ];
  const parts = sections.map((section) => {
    const inside = [...remarks].filter(([path]) => path === section || path.startsWith(`${section}.`));
    const said = inside.map(([path, remark]) => (path === section ? remark : `\`${path}\`: ${remark}`));
    const rows = values.filter(({ path }) => path.length > 1 && path[0] === section);
    return [`### ${section}`, ...said, table(rows)].join('\n\n');
  });
  return ['', ['### Of the whole release', table(alone)].join('\n\n'), ...parts, '']
    .join('\n\n')
    .slice(1, -1);
}

function table(values: readonly DocumentedValue[]): string {
  const rows = values.map(
    ({ path, says, preset }) =>
      `| \`${path.join('.')}\` | \`${cell(JSON.stringify(preset))}\` | ${cell(says)} |`,
  );
  return ['| value | default | what it is |', '|---|---|---|', ...rows].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
