// The files of dashboards that the chart brings.
import { partner } from './dashboards/partner.ts';
import { security } from './dashboards/security.ts';
import { service } from './dashboards/service.ts';
import { dashboardOf } from './panels.ts';

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
