import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dashboards } from './dashboards.ts';

const root = join(import.meta.dirname, '../..');
const written = Object.keys(dashboards).map((path) =>
  JSON.stringify(JSON.parse(readFileSync(join(root, path), 'utf8')), null, 2),
);
const [first = ''] = written;
const without = (json: string) => json.replace(/\n\s+"schemaVersion": \d+,/, '');

/** What Grafana would not read. */
const broken: readonly (readonly [mistake: string, said: RegExp, json: string])[] = [
  ['a field that it does not know', /titel.* does not exist/, first.replace('"title"', '"titel"')],
  ['none of a field that it needs', /'schemaVersion'/, without(first)],
  [
    'a value that is none of a choice',
    /Type '7' is not assignable/,
    first.replace('"refresh": 2', '"refresh": 7'),
  ],
  ['another type', /Type 'string'/, first.replace(/"h": \d+/, '"h": "8"')],
  ['a query that asks for nothing', /expression.* does not exist/, first.replace('"expr":', '"expression":')],
  [
    'a style that a time series lacks',
    /drawStile.* does not exist/,
    first.replace('"custom": {', '"custom": { "drawStile": "line",'),
  ],
];

/** What the compiler says of each dashboard, read as Grafana's own types. */
function mistakesOf(dashboards: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'dashboards-'));
  try {
    const types = JSON.stringify(join(import.meta.dirname, 'grafana-schema.ts'));
    for (const [index, json] of dashboards.entries())
      writeFileSync(
        join(folder, `${index}.mts`),
        `import type { WrittenDashboard } from ${types};\nexport const dashboard: WrittenDashboard = ${json};\n`,
      );
    const options = {
      extends: join(root, 'tsconfig.json'),
      include: ['*.mts'],
      compilerOptions: { types: [] },
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
      encoding: 'utf8',
    });
    const said = (index: number) => stdout.match(new RegExp(`/${index}\\.mts\\(.*(?:\\n .*)*`, 'g')) ?? [];
    return dashboards.map((_, index) => said(index).join('\n'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('Grafana’s own schema allows each dashboard, and refuses broken ones', () => {
  for (const [mistake, , json] of broken) expect(json, mistake).not.toBe(first);
  const found = mistakesOf([...written, ...broken.map(([, , json]) => json)]);
  expect(found.slice(0, written.length)).toEqual(written.map(() => ''));
  for (const [index, [mistake, said]] of broken.entries())
    expect(found[written.length + index], mistake).toMatch(said);
}, 120_000);
