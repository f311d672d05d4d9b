// promtool on the rules as the chart brings them: each alert just fires at its threshold, and not below; and the runbook's
// questions about events so rare that a rate shows none.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { objectives } from '@course-exchange/observability/objectives';
import { series } from '@course-exchange/observability/promql';
import { alerts, rulesFiles } from '@course-exchange/observability/rules';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { gatewayMetrics } from '../../services/gateway/src/metrics.ts';
import { identityMetrics } from '../../services/identity/src/metrics.ts';
import { root } from '../check/step.ts';
import { read } from '../docs/documents.ts';
import { findProgram } from '../support/programs.ts';
import { alive, type Input, of, ruleCases } from './rule-cases.ts';

interface Question {
  readonly input: Input;
  readonly minutes: number;
  /** The values of expressions at that minute; undefined: nothing. */
  readonly answers: readonly (readonly [expr: string, is: number | undefined])[];
}

interface Rule {
  readonly expr: string;
  readonly alert?: string;
  readonly record?: string;
  readonly labels?: { readonly objective?: string };
}

const { command: promtool } = await findProgram('promtool');
const files = Object.keys(rulesFiles).map((name) => `helm/course-exchange/rules/${name}`);
const rules = files
  .flatMap((file) => (parse(read(file)) as { groups: { rules: Rule[] }[] }).groups)
  .flatMap((group) => group.rules);
const runbook = read('docs/on-call.md');

const nameOf = ({ alert, severity }: (typeof alerts)[number]) =>
  `${alert.replace('CourseExchange', '')} ${severity}`;

const alertOf = (name: string) => alerts.find((alert) => nameOf(alert) === name) ?? expect.unreachable(name);

/**
 * Empty where Prometheus answers as it is said; else how it differs. All rules at every minute would take ten times as
 * long as those that `matter`.
 */
function mistakesOf(
  questions: readonly Question[],
  matter: (rule: Rule) => boolean,
  everyMinutes = 1,
): string {
  const evaluation_interval = `${everyMinutes}m`;
  const tests = questions.map(({ input, minutes, answers }) => ({
    interval: '1m',
    input_series: Object.entries(input).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: answers.map(([expr, is]) => ({
      expr,
      eval_time: `${minutes}m`,
      exp_samples: is === undefined ? [] : [{ labels: '{}', value: is }],
    })),
  }));
  const groups = [{ name: 'rules', rules: rules.filter(matter) }];
  const asked = { rule_files: ['rules.yaml'], evaluation_interval, tests };
  const cwd = mkdtempSync(join(tmpdir(), 'promtool-'));
  writeFileSync(join(cwd, 'rules.yaml'), JSON.stringify({ groups }));
  writeFileSync(join(cwd, 'tests.yaml'), JSON.stringify(asked));
  const words = ['test', 'rules', 'tests.yaml'];
  const { status, stdout, stderr } = spawnSync(promtool, words, { cwd, encoding: 'utf8' });
  rmSync(cwd, { recursive: true });
  return status === 0 ? '' : stdout + stderr;
}

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
  const said = execFileSync(promtool, ['check', 'rules', ...files], { cwd: root, encoding: 'utf8' });
  expect(said).toMatch(/SUCCESS: \d+ rules/);
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
  // Every tenth minute is enough for windows of hours.
  expect(mistakesOf(questions, ({ labels }) => labels?.objective === objective.name, 10)).toBe('');
});

const isRecording = ({ record, labels }: Rule) => record !== undefined && labels?.objective === undefined;

/** Half an hour has passed. */
function expectAnswer(input: Input, exprs: readonly string[], is: number): void {
  const answers = exprs.map((expr) => [`round(sum(${expr}), 0.01)`, is] as const);
  expect(mistakesOf([{ input, minutes: 30, answers }], isRecording)).toBe('');
}

function event(event: string, reason: string): string {
  const labels = { event, reason, client_id: 'acme' };
  return of('identity', series(runtimeMetrics.securityEvents, labels, { component: 'identity' }));
}
const reused = event('refresh_token.refused', 'reused');

/** A partner's tokens that were refused twice, which begins their series. */
const begun = '_x20 2x20';
const refused = { 'error.type': 'invalid_grant', reason: 'refresh_token_reused', client_id: 'acme' };
const answered = { client_id: 'acme', 'http.route': '/token', 'error.type': 'invalid_grant' };
const twice: Input = {
  [alive('identity')]: '0x40',
  [alive('gateway')]: '0x40',
  [reused]: begun,
  [of('identity', series(identityMetrics.tokensRefused, refused, { component: 'identity' }))]: begun,
  [of('gateway', series(gatewayMetrics.clientRequests, answered, { component: 'gateway' }))]: begun,
};

test('the runbook counts two events that begin their series', () => {
  const queries = [
    /\| Which partner causes the errors\? \| `([^`]+)`/,
    /\| Why are a partner's requests refused\? \| [^`]*`([^`]+)`/,
    /### CourseExchangeTokensReplayed[\s\S]+?```promql\n(.+)\n```/,
  ].map((place) => place.exec(runbook)?.[1] ?? expect.unreachable(place.source));
  expectAnswer(twice, queries, 2);
});

const replayed = 'course_exchange:security_events:increase15m{event="refresh_token.refused"}';

test.each<[string, Input, number]>([
  [
    'all that came in its first quarter of an hour',
    { [reused]: '_x20 3+1x20', [alive('identity')]: '0x40' },
    13,
  ],
  ['what came since, of one that is old', { [reused]: '40+1x40', [alive('identity')]: '0x40' }, 15],
  [
    'nothing where Prometheus is new to an old installation',
    { [reused]: '_x20 40x20', [alive('identity')]: '_x20 0x20' },
    0,
  ],
  [
    'nothing of what passed while Prometheus was away',
    { [reused]: '40x10 _x15 40x20', [alive('identity')]: '0x10 _x15 0x20' },
    0,
  ],
  [
    'nothing where the job has another name',
    {
      [reused.replace('course-exchange', 'before')]: '40x20 _x20',
      [alive('identity').replace('course-exchange', 'before')]: '0x20 _x20',
      [reused]: '_x20 40x20',
      [alive('identity')]: '_x20 0x20',
    },
    0,
  ],
  ['what a process counts from zero', { [reused]: '40x20 2x20', [alive('identity')]: '0x40' }, 2],
])('counted of a series: %s', (_, input, is) => {
  expectAnswer(input, [replayed], is);
});
