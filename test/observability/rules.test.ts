// promtool on the rules as the chart brings them: each is well-formed, fires when it must, and not when it must not.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { objectives } from '@course-exchange/observability/objectives';
import { alerts, rulesFiles } from '@course-exchange/observability/rules';
import { afterAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Input, RuleCase } from './rule-case.ts';
import { ruleCases } from './rule-cases.ts';

const root = join(import.meta.dirname, '../..');
const files = Object.keys(rulesFiles).map((path) => join(root, path));
const promtool = process.env.PROMTOOL ?? 'promtool';
const folder = mkdtempSync(join(tmpdir(), 'rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Firing {
  readonly alertname: string;
  readonly severity: string;
  readonly fires: boolean;
  readonly input: Input;
  readonly minutes: number;
  readonly alerts?: RuleCase['alerts'];
}

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly labels?: Readonly<Record<string, string>>;
}
const written = files.flatMap(
  (file) => (parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] }).groups,
);

/** A file with what the alert needs: all of them at each minute would take promtool ten times as long. */
function rulesOf(alertname: string): string {
  const asked = alerts.filter(({ alert }) => alert === alertname).map(({ expr }) => expr);
  const needed = ({ alert, record = '', labels }: Rule) =>
    alert === alertname ||
    (labels?.objective === undefined
      ? record !== '' && asked.some((expr) => expr.includes(record))
      : alertname === `CourseExchange${labels.objective}`);
  const file = join(folder, 'rules.yaml');
  const rules = written.flatMap((group) => group.rules).filter(needed);
  writeFileSync(file, stringify({ groups: [{ name: 'needed', rules }] }));
  return file;
}

function selector(name: string, labels: Readonly<Record<string, string>>): string {
  const matchers = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return `${name}{${matchers.join(',')}}`;
}

/** Labels that the alert's summary names. */
function namedLabels(alertname: string, severity: string): readonly string[] {
  const found = alerts.find((one) => one.alert === alertname && one.severity === severity);
  return [...(found?.summary ?? '').matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
}

/** Empty where Prometheus finds what is said; else how it differs. */
function mistakesOf(firings: readonly Firing[], everyMinutes = 1): string {
  const tests = firings.map(({ alertname, severity, fires, input, minutes, alerts: expected }) => ({
    interval: '1m',
    name: `${alertname} ${severity} ${fires ? 'fires' : 'is quiet'}`,
    input_series: Object.entries(input).map(([series, values]) => ({ series, values })),
    promql_expr_test: [
      {
        expr: `sum(ALERTS{alertname="${alertname}",severity="${severity}",alertstate="firing"} > bool 0) > bool 0`,
        eval_time: `${minutes}m`,
        exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
      },
      // No summary has a gap.
      ...namedLabels(alertname, severity).map((label) => ({
        expr: `ALERTS{alertname="${alertname}",severity="${severity}",${label}=""}`,
        eval_time: `${minutes}m`,
        exp_samples: [],
      })),
      ...(expected === undefined
        ? []
        : [
            {
              expr: `ALERTS{alertname="${alertname}",severity="${severity}",alertstate="firing"}`,
              eval_time: `${minutes}m`,
              exp_samples: expected.map((labels) => ({
                labels: selector('ALERTS', { alertname, severity, alertstate: 'firing', ...labels }),
                value: 1,
              })),
            },
          ]),
    ],
  }));
  const file = join(folder, 'cases.yaml');
  writeFileSync(
    file,
    stringify({
      rule_files: [rulesOf(`${firings[0]?.alertname}`)],
      evaluation_interval: `${everyMinutes}m`,
      tests,
    }),
  );
  const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' });
  return status === 0 ? '' : stdout + stderr;
}

test('the rules are well-formed', () => {
  expect(execFileSync(promtool, ['check', 'rules', ...files], { encoding: 'utf8' })).toMatch(
    /SUCCESS: \d+ rules/,
  );
});

test('each alert has cases of its severities', () => {
  const known = Object.entries(ruleCases).flatMap(([name, cases]) =>
    cases.map((one) => `${name} ${one.severity}`),
  );
  const ours = alerts.filter(({ labels }) => labels?.objective === undefined);
  expect([...new Set(known)].sort()).toEqual(
    ours.map(({ alert, severity }) => `${alert} ${severity}`).sort(),
  );
});

test.each(Object.keys(ruleCases))('%s fires when it must, and not when it must not', (alertname) => {
  // What needs an hour to fire, or a past to compare with, is looked at later.
  const minutes = { CourseExchangeSigningKeyOld: 70, CourseExchangePasswordGuessing: 240 }[alertname] ?? 60;
  const firings = (ruleCases[alertname] ?? []).flatMap(({ severity, fires, quiet, alerts: expected }) => [
    { alertname, severity, minutes, fires: true, input: fires, ...(expected && { alerts: expected }) },
    { alertname, severity, minutes, fires: false, input: quiet },
  ]);
  expect(mistakesOf(firings)).toBe('');
});

/**
 * The share `wrong` of `perMinute`, in the series that an objective counts. A bucket's whole bound is written with
 * `ending`: as Prometheus 3 stores it, or as earlier ones do.
 */
function served(
  { all, good }: (typeof objectives)[number],
  wrong: number,
  perMinute: number,
  ending = '.0',
): Input {
  const values = (share: number) => `0+${Number((share * perMinute).toPrecision(6))}x180`;
  const exact = (selector: string) =>
    selector
      .replace(/http_route=~"([^|"]+)[^"]*"/, 'http_route="$1"')
      .replace('http_response_status_code!~"5.."', 'http_response_status_code="200"')
      .replace('error_type!="connection_closed"', 'error_type=""')
      .replace(/le=~"(\d+)\|.*?"/, `le="$1${ending}"`);
  if (good.includes('le=')) return { [exact(all)]: values(1), [exact(good)]: values(1 - wrong) };
  const failed = exact(good).replace('"200"', '"503"');
  return { [exact(good)]: values(1 - wrong), [failed]: values(wrong), ...unanswered(all, perMinute) };
}

/** Many more whom nobody waited for: they are neither good nor bad. */
function unanswered(all: string, perMinute: number): Input {
  const closed = all
    .replace(/http_route=~"([^|"]+)[^"]*"/, 'http_route="$1"')
    .replace('error_type!=', 'error_type=');
  return { [closed]: `0+${perMinute * 100}x180` };
}

test.each(objectives)(
  '$name: a fast burn is critical, a slow one a warning, a rare failure nothing',
  (objective) => {
    const budget = 1 - objective.share;
    const alertname = `CourseExchange${objective.name}`;
    const firing = (severity: string, fires: boolean, input: Input) => ({
      alertname,
      severity,
      fires,
      input,
      minutes: 180,
    });
    const fast = served(objective, Math.min(0.95, 20 * budget), 200);
    const slow = served(objective, 4 * budget, 200);
    const within = served(objective, budget / 2, 200);
    // All of it fails, but that is one call in ten minutes.
    const few = served(objective, 1, 0.05);
    expect(
      mistakesOf(
        [
          firing('critical', true, fast),
          firing('warning', true, fast),
          firing('critical', false, slow),
          firing('warning', true, slow),
          firing('critical', false, within),
          firing('warning', false, within),
          firing('critical', false, served(objective, budget / 2, 200, '')),
          firing('critical', false, few),
          firing('warning', false, few),
        ],
        10,
      ),
    ).toBe('');
  },
);

test('logins that are slow are not hidden by the pages around them, which are fast', () => {
  const objective = objectives.find(({ name }) => name === 'LoginLatency');
  if (objective === undefined) return expect.unreachable('no such objective');
  const fires = { alertname: 'CourseExchangeLoginLatency', severity: 'critical', fires: true, minutes: 180 };
  const pages = Object.entries(served(objective, 0, 20_000)).flatMap(([series, values]) => [
    [series.replace('"POST"', '"GET"'), values],
    [series.replace('"POST"', '"GET"').replace('"/login"', '"/authorize"'), values],
  ]);
  const input = { ...Object.fromEntries(pages), ...served(objective, 0.95, 200) };
  expect(mistakesOf([{ ...fires, input }], 10)).toBe('');
});
