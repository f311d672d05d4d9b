// Events so rare that a rate shows none: promtool asks the runbook's questions and the dashboards about them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboards } from '@course-exchange/observability/dashboards';
import type { WrittenDashboard } from '@course-exchange/observability/grafana-schema';
import { series } from '@course-exchange/observability/promql';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { describe, expect, test } from 'vitest';
import { gatewayMetrics } from '../../services/gateway/src/metrics.ts';
import { identityMetrics } from '../../services/identity/src/metrics.ts';
import { alive, type Input, mistakesOf, of, type Rule } from './promtool.ts';

const isRecording = ({ record, labels }: Rule) => record !== undefined && labels?.objective === undefined;

/** Half an hour has passed. */
function expectAnswer(input: Input, exprs: readonly string[], is: number): void {
  const answers = exprs.map((expr) => [`round(sum(${expr}), 0.01)`, is] as const);
  expect(mistakesOf([{ input, minutes: 30, answers }], isRecording)).toBe('');
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
const page = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');

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
    expectAnswer(input, [expr], 2);
  });

  test('the runbook: whose tokens come again?', () => {
    const [, expr = ''] = page.match(/### CourseExchangeTokensReplayed[\s\S]+?```promql\n(.+)\n```/) ?? [];
    expect(expr).not.toBe('');
    expectAnswer(input, [expr], 2);
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
    expectAnswer(
      input,
      found.map(({ expr }) => filled(expr)),
      2,
    );
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
  expectAnswer(input, [replayed], is);
});
