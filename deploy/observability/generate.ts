// Writes the chart's rules and dashboards, which git does not hold: `node deploy/observability/generate.ts`. An install
// runs it, and so does every command that needs them.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboards } from './dashboards.ts';
import { rulesFiles } from './rules.ts';

const chart = join(import.meta.dirname, '../../helm/course-exchange');
const folders = { rules: rulesFiles, dashboards };

/** A file that is as it should be is left alone: another process may read it now. */
export function generateChartFiles(): void {
  for (const [folder, files] of Object.entries(folders)) {
    const path = join(chart, folder);
    mkdirSync(path, { recursive: true });
    for (const name of readdirSync(path)) if (!(name in files)) rmSync(join(path, name));
    for (const [name, text] of Object.entries(files)) write(join(path, name), text());
  }
}

function write(path: string, text: string): void {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text);
}

if (import.meta.main) generateChartFiles();
