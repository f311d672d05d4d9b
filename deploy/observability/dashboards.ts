// The files of dashboards that the chart brings.
import { partner } from './dashboards/partner.ts';
import { security } from './dashboards/security.ts';
import { service } from './dashboards/service.ts';
import { dashboardOf } from './panels.ts';

/** By path in the repository. */
export const dashboards: Readonly<Record<string, () => object>> = Object.fromEntries(
  [service, partner, security].map((source) => [
    `helm/course-exchange/dashboards/${source.uid.replace('course-exchange-', '')}.json`,
    () => JSON.parse(JSON.stringify(dashboardOf(source))),
  ]),
);
