// Events so rare that a rate shows none: promtool asks the runbook's questions and the dashboards about them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dashboards } from '@course-exchange/observability/dashboards';
import type { WrittenDashboard } from '@course-exchange/observability/grafana-schema';
import { series } from '@course-exchange/observability/promql';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { gatewayMetrics } from '../../services/gateway/src/metrics.ts';
import { identityMetrics } from '../../services/identity/src/metrics.ts';
import { alive, type Input, of } from './rule-case.ts';

const folder = mkdtempSync(join(tmpdir(), 'events-'));
afterAll(() => rmSync(folder, { recursive: true }));
const root = join(import.meta.dirname, '../..');
const rules = join(folder, 'rules.yaml');
const written = parse(
  readFileSync(join(root, 'helm/course-exchange/rules/course-exchange.yaml'), 'utf8'),
) as {
  groups: { name: string }[];
};
const groups = written.groups.filter(({ name }) => name === 'course-exchange-events');
writeFileSync(rules, stringify({ groups }));

interface Asked {
  readonly expr: string;
  readonly is: number;
}

/** Empty where Prometheus answers as it is said; else how it differs. Half an hour has passed. */
function mistakesOf(input: Input, asked: readonly Asked[]): string {
  const file = join(folder, 'events.yaml');
  const input_series = Object.entries(input).map(([name, values]) => ({ series: name, values }));
  const promql_expr_test = asked.map(({ expr, is }) => ({
    expr: `round(sum(${expr}), 0.01)`,
    eval_time: '30m',
    exp_samples: [{ labels: '{}', value: is }],
  }));
  writeFileSync(
    file,
    stringify({ rule_files: [rules], tests: [{ interval: '1m', input_series, promql_expr_test }] }),
  );
  const { status, stdout, stderr } = spawnSync(process.env.PROMTOOL ?? 'promtool', ['test', 'rules', file], {
    encoding: 'utf8',
  });
  return status === 0 ? '' : stdout + stderr;
}

const event = (name: string, reason: string) =>
  of(
    'identity',
    series(
      runtimeMetrics.securityEvents,
      { event: name, reason, client_id: 'acme' },
      { component: 'identity' },
    ),
  );
const reused = event('refresh_token.refused', 'reused');
const page = readFileSync(join(root, 'docs/runbook.md'), 'utf8');

describe('two events, which begin their series', () => {
  const begun = '_x20 2x20';
  const labels = { 'error.type': 'invalid_grant', reason: 'refresh_token.refused reused', client_id: 'acme' };
  const input: Input = {
    [alive('identity')]: '0x40',
    [alive('gateway')]: '0x40',
    [reused]: begun,
    [event('grant.revoked', 'code_replayed')]: begun,
    [event('consent.denied', '')]: begun,
    [of('identity', series(identityMetrics.tokensRefused, labels, { component: 'identity' }))]: begun,
    [of(
      'gateway',
      series(
        gatewayMetrics.clientRequests,
        { client_id: 'acme', 'http.route': '/token', 'error.type': 'invalid_grant' },
        { component: 'gateway' },
      ),
    )]: begun,
  };

  test.each(['Which partner causes the errors?', 'And why?'])('the runbook: %s', (question) => {
    const [, expr = ''] = page.split(`| ${question} | \``)[1]?.match(/^([^`]+)`/) ?? [];
    expect(expr).not.toBe('');
    expect(mistakesOf(input, [{ expr, is: 2 }])).toBe('');
  });

  test('the runbook: whose tokens come again?', () => {
    const [, expr = ''] = page.match(/### CourseExchangeTokensReplayed[\s\S]+?```promql\n(.+)\n```/) ?? [];
    expect(expr).not.toBe('');
    expect(mistakesOf(input, [{ expr, is: 2 }])).toBe('');
  });

  const variables = { job: '.+', namespace: '.*', client_id: 'acme', __rate_interval: '5m' };
  const panels = Object.values(dashboards).flatMap((make) => (make() as WrittenDashboard).panels);
  const filled = (expr: string) =>
    Object.entries(variables).reduce((text, [name, value]) => text.replaceAll(`$${name}`, value), expr);

  test.each([
    ['Errors by route and code', 1],
    ['Token requests refused', 1],
    ['Codes and refresh tokens refused', 1],
    ['Grants that ended', 2],
    ['Tokens used again', 1],
  ])('the panels “%s”', (wanted, times) => {
    const found = panels
      .filter((panel) => panel.type === 'timeseries' && panel.title === wanted)
      .flatMap((panel) => ('targets' in panel && panel.targets) || []);
    expect(found).toHaveLength(times);
    expect(
      mistakesOf(
        input,
        found.map(({ expr }) => ({ expr: filled(expr), is: 2 })),
      ),
    ).toBe('');
  });
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
  ['what a process counts anew', { [reused]: '40x20 2x20', [alive('identity')]: '0x40' }, 2],
])('of a series is counted: %s', (_, input, is) => {
  expect(mistakesOf(input, [{ expr: replayed, is }])).toBe('');
});
