// What values.yaml says, as tables of the chart's README.
import { type DocumentedValue, remarks, documentedValues as values } from '../chart/value-schema.ts';
import { code, type Part, table } from './page.ts';

export const valuesPart: Part = () => {
  const alone = values.filter(({ path }) => path.length === 1);
  const sections = Map.groupBy(values, ({ path }) => (path.length > 1 ? `${path[0]}` : ''));
  sections.delete('');
  const parts = [...sections].map(([section, rows]) => {
    const inside = [...remarks].filter(([path]) => path === section || path.startsWith(`${section}.`));
    const said = inside.map(([path, remark]) => (path === section ? remark : `\`${path}\`: ${remark}`));
    return [`### ${section}`, ...said, valueTable(rows)].join('\n\n');
  });
  return [`### Of the whole release\n\n${valueTable(alone)}`, ...parts].join('\n\n');
};

function valueTable(values: readonly DocumentedValue[]): string {
  const rows = values.map(({ path, type, description, defaultValue }) => [
    code(path.join('.')),
    type ?? typeof defaultValue,
    code(JSON.stringify(defaultValue)),
    description,
  ]);
  return table(['value', 'type', 'default', 'what it is'], rows);
}
