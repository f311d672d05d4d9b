// Events so rare that a rate shows none: promtool asks the runbook's questions about them.
import { series } from '@course-exchange/observability/promql';
import { runtimeMetrics } from '@course-exchange/runtime/process/runtime-metrics';
import { expect, test } from 'vitest';
import { gatewayMetrics } from '../../services/gateway/src/metrics.ts';
import { identityMetrics } from '../../services/identity/src/metrics.ts';
import { alive, type Input, mistakesOf, of, type Rule, runbook } from './promtool.ts';

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
const refused = { 'error.type': 'invalid_grant', reason: 'refresh_token.refused reused', client_id: 'acme' };
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
    /\| And why\? \| `([^`]+)`/,
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
  ['what a process counts anew', { [reused]: '40x20 2x20', [alive('identity')]: '0x40' }, 2],
])('of a series is counted: %s', (_, input, is) => {
  expectAnswer(input, [replayed], is);
});
