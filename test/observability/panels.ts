// The panels of all dashboards, with the queries that they ask where everything is chosen.
import { dashboards } from '@course-exchange/observability/dashboards';
import type { WrittenDashboard } from '@course-exchange/observability/grafana-schema';

const variables = { job: '.+', namespace: '.*', client_id: '.+', __rate_interval: '10m' };
const filled = (expr: string) =>
  Object.entries(variables).reduce((text, [name, value]) => text.replaceAll(`$${name}`, value), expr);

export const panels = Object.values(dashboards)
  .flatMap((make) => (make() as WrittenDashboard).panels)
  .filter((panel) => panel.type === 'timeseries')
  .map(({ title, targets = [] }) => ({
    title: `${title}`,
    queries: targets.map(({ expr }) => filled(expr)),
  }));
