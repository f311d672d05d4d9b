// What values.yaml says, as tables of the chart's README and as its JSON Schema.
import {
  type DocumentedValue,
  remarks,
  valueSchema,
  documentedValues as values,
} from '../chart/value-schema.ts';
import { jsonText } from './json-text.ts';
import { code, type Part, table } from './page.ts';

export const valuesPart: Part = () => {
  const alone = values.filter(({ path }) => path.length === 1);
  const sections = [
    ...new Set(values.filter(({ path }) => path.length > 1).map(({ path }) => path[0] ?? '')),
  ];
  const parts = sections.map((section) => {
    const inside = [...remarks].filter(([path]) => path === section || path.startsWith(`${section}.`));
    const said = inside.map(([path, remark]) => (path === section ? remark : `\`${path}\`: ${remark}`));
    const rows = values.filter(({ path }) => path.length > 1 && path[0] === section);
    return [`### ${section}`, ...said, valueTable(rows)].join('\n\n');
  });
  return [`### Of the whole release\n\n${valueTable(alone)}`, ...parts].join('\n\n');
};

export function valuesSchema(): string {
  return `${jsonText(valueSchema())}\n`;
}

function valueTable(values: readonly DocumentedValue[]): string {
  const rows = values.map(({ path, type, description, defaultValue }) => [
    code(path.join('.')),
    type ?? typeof defaultValue,
    code(JSON.stringify(defaultValue)),
    description,
  ]);
  return table(['value', 'type', 'default', 'what it is'], rows);
}
