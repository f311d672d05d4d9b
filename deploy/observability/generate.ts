// Writes the chart's rules and dashboards, which git does not hold: `node deploy/observability/generate.ts`. An install
// runs it, and so does every command that needs them.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { partner } from './dashboards/partner.ts';
import { security } from './dashboards/security.ts';
import { service } from './dashboards/service.ts';
import { dashboardOf } from './panels.ts';
import { rulesFiles } from './rules.ts';

const sources = [service, partner, security];

/** Queries of all dashboards' panels, by title. */
export const allPanels = sources
  .flatMap(({ rows }) => Object.values(rows).flatMap((row) => Object.entries(row)))
  .map(([title, [, queries]]) => [title, Object.values(queries)] as const);

/** Text by file name. */
export const dashboards: Readonly<Record<string, () => string>> = Object.fromEntries(
  sources.map((source) => [
    `${source.uid.replace('course-exchange-', '')}.json`,
    () => `${JSON.stringify(dashboardOf(source), null, 2)}\n`,
  ]),
);

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
