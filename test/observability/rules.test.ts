// promtool on the rules as the chart brings them: each alert just fires at its threshold, and not below.
import { objectives } from '@course-exchange/observability/objectives';
import { alerts } from '@course-exchange/observability/rules';
import { expect, test } from 'vitest';
import { checkRules, type Input, mistakesOf, type Question, type Rule } from './promtool.ts';
import { ruleCases } from './rule-cases.ts';

const nameOf = ({ alert, severity }: (typeof alerts)[number]) =>
  `${alert.replace('CourseExchange', '')} ${severity}`;

const alertOf = (name: string) => alerts.find((alert) => nameOf(alert) === name) ?? expect.unreachable(name);

/** What is asked of the alert: how many of it fire, and that no label is empty that its summary names. */
function firing(name: string, count: number | undefined, input: Input, minutes: number): Question {
  const found = alertOf(name);
  const matchers = `alertname="${found.alert}",severity="${found.severity}",alertstate="firing"`;
  const named = [...found.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
  const answers: Question['answers'] = [
    [`count(ALERTS{${matchers}})`, count],
    ...named.map((label) => [`ALERTS{${matchers},${label}=""}`, undefined] as const),
  ];
  return { input, minutes, answers };
}

test('the rules are well-formed', () => {
  expect(checkRules()).toMatch(/SUCCESS: \d+ rules/);
});

test('each alert has a case', () => {
  const ours = alerts.filter(({ labels }) => labels?.objective === undefined);
  expect(Object.keys(ruleCases)).toEqual(ours.map(nameOf));
});

test.each(Object.entries(ruleCases))(
  '%s fires at its threshold and not below',
  (name, { fires, quiet, alerts: count = 1, minutes = 60 }) => {
    const questions = [firing(name, count, fires, minutes), firing(name, undefined, quiet, minutes)];
    const { alert: asked, expr } = alertOf(name);
    const matters = ({ alert, record }: Rule) =>
      alert === asked || (record && expr.includes(record)) === true;
    expect(mistakesOf(questions, matters)).toBe('');
  },
);

type Objective = (typeof objectives)[number];

/**
 * The share `wrong` of `perMinute`, in the series that an objective counts. A bucket's whole bound is written with
 * `ending`: as Prometheus 3 stores it, or as earlier ones do.
 */
function served({ all, good }: Objective, wrong: number, perMinute = 200, ending = '.0'): Input {
  const values = (share: number) => `0+${Number((share * perMinute).toPrecision(6))}x180`;
  const exact = (selector: string, error_type = '') =>
    selector
      .replace(/http_route=~"([^|"]+)[^"]*"/, 'http_route="$1"')
      .replace('http_response_status_code!~"5.."', 'http_response_status_code="200"')
      .replace(/error_type!="[^"]*"/, `error_type="${error_type}"`)
      .replace(/le=~"(\d+)\|.*?"/, `le="$1${ending}"`);
  if (!good.includes('le='))
    return {
      [exact(good)]: values(1 - wrong),
      [exact(good).replace('"200"', '"503"')]: values(wrong),
      // Many more whose client was gone: they are neither good nor bad.
      [exact(all, 'connection_closed')]: values(100),
    };
  const counted = { [exact(all)]: values(1), [exact(good)]: values(1 - wrong) };
  // Logins that are slow are not hidden by the pages before them, which are many, and fast.
  const pages = [all, good].map((selector) => [exact(selector).replace('"POST"', '"GET"'), values(100)]);
  return { ...Object.fromEntries(pages), ...counted };
}

test.each(objectives)('$name: it fires at 6 and 1 times what may go wrong, and not below', (objective) => {
  const at = (times: number, ...more: [perMinute?: number, ending?: string]) =>
    served(objective, times * (1 - objective.share), ...more);
  // All of it fails, but that is one call in twenty minutes.
  const few = served(objective, 1, 0.05);
  const [critical, warning] = [`${objective.name} critical`, `${objective.name} warning`];
  const questions = [
    firing(critical, 1, at(6.2), 180),
    firing(critical, undefined, at(5.8), 180),
    firing(critical, undefined, at(5.8, 200, ''), 180),
    firing(critical, undefined, few, 180),
    firing(warning, 1, at(1.1), 180),
    firing(warning, undefined, at(0.9), 180),
    firing(warning, undefined, few, 180),
  ];
  // Of windows of hours every tenth minute is enough.
  expect(mistakesOf(questions, ({ labels }) => labels?.objective === objective.name, 10)).toBe('');
});
