// Each alert, fired by a fault on a running system that Prometheus scrapes.
import { setTimeout as sleep } from 'node:timers/promises';
import { dashboards } from '@course-exchange/observability/dashboards';
import type { WrittenDashboard } from '@course-exchange/observability/grafana-schema';
import { alerts } from '@course-exchange/observability/rules';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../stores/redis-servers.ts';
import { unknownToken } from '../support/caller.ts';
import { authorizeUrl } from '../support/flow.ts';
import { send } from '../support/http.ts';
import { standstillWatch } from '../support/own-time.ts';
import { abuse } from './faults/abuse.ts';
import { type AlertName, type Fault, get, openLogin } from './faults/fault.ts';
import { outages } from './faults/outages.ts';
import { settingFaults } from './faults/settings.ts';
import type { AlertNow } from './prometheus.ts';
import { startSubject } from './subject.ts';

const alone: Readonly<Record<string, Fault>> = outages;
/** They disturb nobody, and run beside one another. */
const aside: Readonly<Record<string, Fault>> = { ...settingFaults, ...abuse };

/** Told by kube-state-metrics, which no local stack has: that they fire, promtool alone shows (rules.test.ts). */
const byPromtoolAlone: readonly AlertName[] = [
  'NotAvailable critical',
  'FewerPodsThanWanted warning',
  'Restarts warning',
  'JobFailed warning',
];

const nameOf = ({ labels }: Pick<AlertNow, 'labels'>) =>
  `${labels.alertname?.replace('CourseExchange', '')} ${labels.severity}` as AlertName;

let subject: Awaited<ReturnType<typeof startSubject>>;
let watching = true;
let watch: Promise<void>;
/** The newest of each that fired, and when that was. */
const fired = new Map<AlertName, { readonly alert: AlertNow; readonly at: number }>();

beforeAll(async () => {
  subject = await startSubject();
  // Before the first scrape every service was away.
  await untilQuiet(() => true);
  watch = (async () => {
    for (; watching; await sleep(200)) await firingNow().then(remember, () => {});
  })();
}, 300_000);

afterAll(async () => {
  watching = false;
  await watch;
  await subject?.stop();
});

async function firingNow(): Promise<readonly AlertNow[]> {
  return (await subject.prometheus.alerts()).filter(({ state }) => state === 'firing');
}

function untilQuiet(concerns: (alert: AlertNow) => boolean): Promise<void> {
  return until('none of them fires', async () => !(await firingNow()).some(concerns), 200_000);
}

function remember(found: readonly AlertNow[]): void {
  for (const alert of found) fired.set(nameOf(alert), { alert, at: performance.now() });
}

/** Injects the fault; what it sets off says what it is about. */
async function expectAlerts(fault: Fault): Promise<void> {
  const { fires, inject } = fault;
  // What uses up an objective goes on firing for minutes, and a fault before this one may have failed a request more.
  await untilQuiet((alert) => fires.includes(nameOf(alert)) && alert.labels.objective === undefined);
  const begun = performance.now();
  const missing = (names = fires) => names.filter((name) => (fired.get(name)?.at ?? 0) < begun);
  await inject(subject, async (again = () => sleep(200), names) => {
    const end = performance.now() + 300_000;
    while (missing(names).length > 0 && performance.now() < end) await again();
    expect(missing(names)).toEqual([]);
  });
  for (const name of fires) {
    const { labels, annotations } = fired.get(name)?.alert ?? expect.unreachable(name);
    expect(labels).toMatchObject({ job: 'course-exchange' });
    expect(annotations.summary).toMatch(/^\S.+\.$/);
    expect(annotations.summary).not.toMatch(/\{\{|<no value>|%!|NaN| {2}/);
    expect(annotations.runbook_url).toBe(`docs/runbook.md#${labels.alertname?.toLowerCase()}`);
  }
}

test('every alert has a fault that sets it off, or a reason for none', () => {
  const all = Object.values({ ...alone, ...aside }).flatMap(({ fires }) => fires);
  expect(new Set(all).size).toBe(all.length);
  expect([...all, ...byPromtoolAlone].toSorted()).toEqual(
    alerts.map(({ alert, severity }) => nameOf({ labels: { alertname: alert, severity } })).toSorted(),
  );
});

test('nothing fires while all is well', async () => {
  const { access_token, refresh_token } = await subject.caller.newTokens();
  const login = await openLogin(subject);
  const begun = () => [
    get(subject, access_token, '/api/events'),
    login(),
    subject.caller.refresh(unknownToken),
  ];
  const stoodStill = standstillWatch();
  // All is not well where the machine leaves a service no time to answer Prometheus.
  const disturbed = async () =>
    stoodStill(15_000) || (await subject.prometheus.query('min_over_time(up[15s]) == 0')).length > 0;
  for (let more = 0; more < 5; more += 1) {
    await untilQuiet(() => true);
    fired.clear();
    for (let round = 0; round < 8; round += 1) await Promise.all([sleep(1_000), ...begun()]);
    if (fired.size === 0 || !(await disturbed())) break;
  }
  expect([...fired.keys()]).toEqual([]);
  expect((await subject.caller.refresh(refresh_token)).status).toBe(200);
}, 900_000);

test.each(Object.entries(alone))('%s', (_, fault) => expectAlerts(fault));

describe.concurrent('beside one another', () => {
  test.each(Object.entries(aside))('%s', async (_, fault) => expectAlerts(fault));
});

/** Their queries may find nothing: nobody did it, or the fault is over. */
const mayBeEmpty = ['Grants that ended', 'Refused for overload, or late', 'Its secrets expire in'];
const panels = Object.values(dashboards)
  .flatMap((make) => (make() as WrittenDashboard).panels)
  .filter((panel) => panel.type === 'timeseries');
const variables = { job: '.+', namespace: '.*', client_id: '.+', __rate_interval: '10m' };

async function emptyPanels(): Promise<readonly string[]> {
  const empty: string[] = [];
  for (const { title, targets = [] } of panels) {
    const found = await Promise.all(
      targets.map(({ expr }) =>
        subject.prometheus.query(
          Object.entries(variables).reduce((text, [name, value]) => text.replaceAll(`$${name}`, value), expr),
        ),
      ),
    );
    if (found.every((series) => series.length === 0)) empty.push(`${title}`);
  }
  return empty.filter((title) => !mayBeEmpty.includes(title));
}

test('Prometheus answers each query of a dashboard, and each panel shows something by one at least', async () => {
  expect(panels.length).toBeGreaterThan(30);
  const { caller } = subject;
  const refused = authorizeUrl(caller.discovery.authorization_endpoint, caller.partner, { scope: 'made-up' });
  // A service that has just started has not been scraped.
  const empty = () => send(refused).then(emptyPanels);
  await expect.poll(empty, { timeout: 120_000, interval: 500 }).toEqual([]);
});

test('what has been mended fires no more, but for what uses up an objective', async () => {
  await untilQuiet(({ labels }) => labels.objective === undefined);
  expect((await subject.caller.newTokens()).refresh_token).toBeTruthy();
});
